/**
 * Lets the page work offline after its first visit: the network first, what was loaded before when there is none.
 * Only this page's own files are kept, never what a visitor opens or writes.
 */
const CACHE = 'tamp-demo-1';

self.addEventListener('install', () => self.skipWaiting());

self.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await self.caches.keys()) if (name.startsWith('tamp-demo-') && name !== CACHE) await self.caches.delete(name);
    await self.clients.claim();
  })());
});

/** The page names the files it loaded before this worker was there. */
self.addEventListener('message', (event) => {
  event.waitUntil((async () => {
    const cache = await self.caches.open(CACHE);
    await Promise.all(event.data.map((url) => mine(new URL(url)) && cache.add(url).catch(() => {})));
  })());
});

const mine = (url) => url.href.startsWith(self.registration.scope) && !url.pathname.endsWith('/agui');

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !mine(new URL(request.url))) return;
  event.respondWith((async () => {
    const cache = await self.caches.open(CACHE);
    try {
      const response = await fetch(request);
      if (response.ok) await cache.put(request, response.clone());
      return response;
    } catch (error) {
      const kept = await cache.match(request, { ignoreSearch: true });
      if (kept) return kept;
      throw error;
    }
  })());
});
