// The live page: the attention viewer with the maps of the translation that is shown.

import { html } from "./kit.js";
import { table } from "./page_parts.js";
import { attentionViewer } from "./viewer.js";

const LABEL = "the chosen map";

export function makeMaps(page) {
  const { state } = page, host = html("div", { class: "viewer" });
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": LABEL };
  const numbers = html("div", region);
  const summary = html("summary", {}, "The chosen map as a table");
  const details = html("details", {}, summary, numbers);
  const element = html("section", { "aria-labelledby": "maps" },
    html("h2", { id: "maps" }, "See where each word looks"), host,
    details);
  let viewer = null;

  /** The maps of now; of a head that is switched off, its former one. */
  function kinds() {
    const { now, open } = page.shown;
    if (!open || open === now) return now.kinds;
    const keep = (kind, layer, heads) => heads.map((map, head) => {
      const off = state.closed.has(`${kind}-${layer}-${head}`);
      return (off && former(kind, layer, head)) || map;
    });
    const former = (kind, layer, head) => {
      const [before, after] = [open.kinds[kind], now.kinds[kind]];
      const fits = before.rows.length === after.rows.length;
      return fits ? before.weights[layer][head] : null;
    };
    const kept = ([kind, one]) => {
      const weights = one.weights.map((heads, i) => keep(kind, i, heads));
      return [kind, { ...one, weights }];
    };
    return Object.fromEntries(Object.entries(now.kinds).map(kept));
  }

  function draw() {
    const { kind, layer, head } = state;
    const maps = { kinds: kinds(), gold: [], off: state.closed };
    if (!viewer) {
      const start = { kind, layer, head };
      viewer = attentionViewer(host, { ...maps, start }, (chosen) => {
        page.look({ kind: chosen.kind, layer: chosen.layer, head: chosen.head });
        drawNumbers();
      });
    } else {
      Object.assign(viewer.state, { kind, layer, head });
      viewer.update(maps);
    }
    Object.assign(state, { layer: viewer.state.layer, head: viewer.state.head });
    drawNumbers();
  }

  function drawNumbers() {
    if (!details.open) return;
    const { rows, columns, weights } = kinds()[state.kind];
    const heads = weights[state.layer];
    const mean = (i) => heads.reduce((total, one) => total + one[i], 0) / heads.length;
    const at = (i) => (state.head < 0 ? mean(i) : heads[state.head][i]) / 1000;
    const line = (row) => columns.map((_, column) =>
      at(row * columns.length + column).toFixed(2).replace(/^0.00$/, ""));
    numbers.replaceChildren(
      table(["", ...columns], rows.map((word, row) => [word, ...line(row)])));
  }

  details.addEventListener("toggle", drawNumbers);

  /** Points at a word of the translation. */
  function point(step) {
    if (viewer && state.kind !== "encoder")
      viewer.hold("from", step);
  }

  return { element, draw, point };
}
