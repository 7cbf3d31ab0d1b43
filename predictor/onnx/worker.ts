/**
 * The module Worker, which imports onnxruntime-web from the page's URL, so that this file works with and without a
 * bundler and loads nothing before a page needs it.
 */

import { type MessageScope, type Runtime, serveInference } from './inference.ts';

serveInference(globalThis as unknown as MessageScope, {
  importRuntime: (url) => import(/* @vite-ignore */ url) as Promise<Runtime>,
});
