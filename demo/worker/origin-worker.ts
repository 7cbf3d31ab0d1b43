/** The service worker of the static site is the paced origin with the shipped traces, for the pages in its folder. */

import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { filmClips } from '../../replay/media/film.ts';
import { Origin } from '../../replay/origin/origin.ts';

declare const self: ServiceWorkerGlobalScope;

const { origin: host, pathname: folder } = new URL('.', self.location.href);
const origin = new Origin({ traces: synthesizeShippedTraces(), acceptTraces: true, folder, clips: filmClips() });

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
// If a page was reloaded past the worker, it asks for the worker.
self.addEventListener('message', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin === host && origin.owns(url.pathname)) event.respondWith(origin.fetch(request));
});
