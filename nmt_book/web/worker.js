// Serves the live page without a network: from the network where there is one, else
// what page_models.js has kept.
addEventListener("fetch", (event) => {
  const { request } = event, ignoreSearch = request.mode === "navigate";
  const kept = async () =>
    (await caches.match(request, { ignoreSearch })) ?? Response.error();
  event.respondWith(fetch(request).catch(kept));
});
