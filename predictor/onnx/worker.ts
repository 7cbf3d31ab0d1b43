/**
 * The module Worker, and the one place where onnxruntime-web is imported: from the URL that the page names, so that this
 * file is the same behind a bundler and without one, and nothing of it is loaded unless a page asks for it.
 */

import { fetchAhead } from './fetch-ahead.ts';
import { type MessageScope, type Runtime, serveInference } from './inference.ts';

serveInference(globalThis as unknown as MessageScope, {
  importRuntime: (url) => import(/* @vite-ignore */ url) as Promise<Runtime>,
  fetchAhead: (url) => fetchAhead(globalThis, url),
});
