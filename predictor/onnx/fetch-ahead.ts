/**
 * Asks for a file before whoever needs it does. onnxruntime-web fetches its `.wasm` only when it has been loaded itself and
 * is given a model, and takes no response that is under way; so its `fetch` is made to find one, a round trip or two earlier.
 */

/** A global scope, as far as it is needed here. In a Worker of one's own its `fetch` is nobody else's. */
export interface FetchScope {
  fetch: typeof fetch;
}

/** The next `fetch` of `url` (absolute) in this scope gets the response to this one. */
export function fetchAhead(scope: FetchScope, url: string): void {
  const { fetch } = scope;
  const response = fetch(url, { credentials: 'same-origin' });
  // Whoever takes it sees why it failed.
  response.catch(() => {});
  scope.fetch = (input, init) => {
    if (input !== url) return fetch(input, init);
    scope.fetch = fetch;
    return response;
  };
}
