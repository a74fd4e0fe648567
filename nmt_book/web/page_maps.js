// The live page: the attention viewer with the maps of the translation that is shown.

import { table } from "./page_parts.js";
import { attentionViewer, weightsOf } from "./viewer.js";

export function makeMaps(page) {
  const { state, part } = page;
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
      const data = { ...maps, start: { kind, layer, head } };
      viewer = attentionViewer(part.viewer, page.templates.viewer, data,
        ({ kind, layer, head }) => {
          page.look({ kind, layer, head });
          drawNumbers();
        });
    } else {
      Object.assign(viewer.state, { kind, layer, head });
      viewer.update(maps);
    }
    Object.assign(state, { layer: viewer.state.layer, head: viewer.state.head });
    drawNumbers();
  }

  /** The chosen map as a table, for who cannot see the shades. */
  function drawNumbers() {
    if (!part.mapAsTable.open) return;
    const map = kinds()[state.kind], { rows, columns } = map;
    const weights = weightsOf(map, state.layer, state.head);
    part.map.replaceChildren(table(["", ...columns], rows.map((word, row) =>
      [word, ...columns.map((_, i) => weights[row * columns.length + i].toFixed(2))])));
  }

  part.mapAsTable.ontoggle = drawNumbers;

  return { draw };
}
