// How Sphinx orders what a search finds: a chapter before a name of the library, and
// first of all the page that is named by the query.
const searched = new URLSearchParams(location.search).get("q") || "";
const asked = searched.trim().toLowerCase().replace(/\s+/g, "_");
var Scorer = {
  score: ([page, title, anchor, , score, , kind]) => {
    const name = page.replace(/^.*\/(\d\d_)?/, "");
    const chapter = /^notebooks\/\d\d_/.test(page);
    const named = chapter && asked && name.startsWith(asked);
    const exactly = named && name === asked;
    return score + 20 * chapter + 15 * named + 60 * exactly - 10 * (page === "api");
  },
  objNameMatch: 11, objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
