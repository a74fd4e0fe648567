// Serves the live page without a network: from the network where there is one, else what page.js has kept.
addEventListener("fetch", (event) => {
  const kept = () => caches.match(event.request, { ignoreSearch: event.request.mode === "navigate" });
  event.respondWith(fetch(event.request).catch(async () => (await kept()) ?? Response.error()));
});
