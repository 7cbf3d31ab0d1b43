/** What `bench-onnx.js` needs of the sources. */
export { findBrowser } from '../replay/browser/find-browser.ts';
export { startOrigin } from '../replay/origin/index.ts';
export { SCENARIOS } from '../replay/scenarios.ts';
