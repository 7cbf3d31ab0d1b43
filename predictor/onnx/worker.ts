/** The module Worker; it imports onnxruntime-web from the page's URL, so it needs no bundler. */

import { type MessageScope, type Runtime, serveInference } from './inference.ts';

serveInference(self as unknown as MessageScope, {
  importRuntime: (url) => import(/* @vite-ignore */ url) as Promise<Runtime>,
});
