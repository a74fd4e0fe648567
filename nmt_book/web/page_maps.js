// The live page: the attention viewer with the maps of the translation that is shown.

import { table } from "./page_parts.js";
import { attentionViewer, weightsOf } from "./viewer.js";

export function makeMaps(page) {
  const { state, part } = page, { mapAsTable } = part;
  let viewer = null;

  /** The maps of now; of a head that is switched off, its former one. */
  function kinds() {
    const { now, open } = page.shown;
    return Object.fromEntries(Object.entries(now.kinds).map(([kind, one]) => {
      const before = open?.kinds[kind], fits = before?.rows.length === one.rows.length;
      const weights = one.weights.map((heads, layer) => heads.map((map, head) => {
        const off = state.closed.has(`${kind}-${layer}-${head}`);
        return off && fits ? before.weights[layer][head] : map;
      }));
      return [kind, { ...one, weights }];
    }));
  }

  function draw() {
    const { kind, layer, head } = state;
    const maps = { kinds: kinds(), gold: [], off: state.closed };
    if (!viewer) {
      const start = { kind, layer, head };
      const data = { ...maps, start }, { viewer: template } = page.templates;
      viewer = attentionViewer(part.viewer, template, data, (chosen) => {
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
    if (!mapAsTable.open) return;
    const map = kinds()[state.kind], { rows, columns } = map;
    const weights = weightsOf(map, state.layer, state.head);
    const line = (row) => columns.map((_, column) =>
      weights[row * columns.length + column].toFixed(2).replace(/^0.00$/, ""));
    part.map.replaceChildren(
      table(["", ...columns], rows.map((word, row) => [word, ...line(row)])));
  }

  mapAsTable.ontoggle = drawNumbers;

  /** Points at a word of the translation. */
  function point(step) {
    if (viewer && state.kind !== "encoder")
      viewer.hold("from", step);
  }

  return { draw, point };
}
