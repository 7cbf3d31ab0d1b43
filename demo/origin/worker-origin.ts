/** The service worker that is the origin of the static site: registers it when the page opens. */

/** Starts the worker, and resolves with its folder, without a slash at the end, once it answers this page's requests. */
export async function startWorker(script: string): Promise<string> {
  const { serviceWorker } = navigator;
  if (serviceWorker === undefined) {
    throw new Error(
      'The players stream from a service worker in this browser. Browsers allow that over HTTPS and on localhost, ' +
        'and some not in private windows',
    );
  }
  await serviceWorker.register(script);
  const { active } = await serviceWorker.ready;
  if (serviceWorker.controller === null) {
    const controlled = new Promise((resolve) =>
      serviceWorker.addEventListener('controllerchange', resolve, { once: true }),
    );
    active?.postMessage('claim');
    await controlled;
  }
  // A new version has none of the sessions.
  serviceWorker.addEventListener('controllerchange', () => location.reload());
  return new URL('.', document.baseURI).href.replace(/\/$/, '');
}
