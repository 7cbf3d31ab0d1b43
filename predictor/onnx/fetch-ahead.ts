/**
 * Requests `url` (absolute) early: the next `fetch` of it in this scope, a Worker of our own, gets that response.
 * onnxruntime-web fetches its `.wasm` only after it has been loaded and got a model, one or two round trips later.
 */
export function fetchAhead(scope: { fetch: typeof globalThis.fetch }, url: string): void {
  const { fetch } = scope;
  const response = fetch(url, { credentials: 'same-origin' });
  // The caller that receives the response handles its failure.
  response.catch(() => {});
  scope.fetch = (input, init) => {
    if (input !== url) return fetch(input, init);
    scope.fetch = fetch;
    return response;
  };
}
