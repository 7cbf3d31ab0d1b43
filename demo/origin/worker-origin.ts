/** Registers the service worker that is the origin of the static site. */

/** Starts the worker. When it answers this page's requests, resolves with its folder, without a slash at the end. */
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
  // A new version of the worker lacks the sessions.
  serviceWorker.addEventListener('controllerchange', () => location.reload());
  return new URL('.', document.baseURI).href.replace(/\/$/, '');
}
