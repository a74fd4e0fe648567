// How alike the words become in a stack of fresh layers, on the numbers of depth.py.

import { choice, html, panel, range, slider } from "../kit.js";
import { chart, grid } from "../pictures.js";

const NAMES = { none: "no residual", sum: "sum", post: "post-LN", pre: "pre-LN" };
const INITS = { xavier: "Xavier", torch: "PyTorch's own" };

/** The share of the vectors that differs between words, after each layer, by seed. */
export const shares = (stacks, { connection, init }) =>
  stacks[init][connection].shares.map((seed) => seed.map((log) => 10 ** (log / 100)));

/** The cosines of all words (S, S) after so many layers, of the first seed. */
export function cosines(stacks, { connection, init, depth }, S) {
  const pairs = stacks[init][connection].cosines[depth].map((one) => one / 100);
  const at = (i, j) => pairs[i * S - i * (i + 1) / 2 + j - i - 1]; // i < j
  const all = range(0, S - 1);
  return all.map((i) => all.map((j) =>
    (i === j ? 1 : at(Math.min(i, j), Math.max(i, j)))));
}

const LEAST = 1e-4;
const percent = (share) => (share <= LEAST ? "less than 0.01 %"
  : `${(100 * share).toPrecision(share < 0.995 ? 2 : 3)} %`);
const height = (share) => Math.log10(Math.max(share, LEAST) / LEAST); // 0 to 4

export function draw({ add, tell }, state, { stacks, words }) {
  const last = shares(stacks, state)[0].length - 1;
  const controls = panel({
    depth: slider({ label: "layers", values: range(0, last) }),
    connection: choice({ label: "around each sub-layer", texts: NAMES }),
    init: choice({ label: "first weights", texts: INITS }),
  }, state);
  const label = "cosines of the words: 1 is the full blue";
  const map = grid({ label, says: ["is like"] });
  const lines = chart({
    label: "what differs between words", x: "layers", y: "", width: 340, height: 210,
    mark: (value) => `${100 * LEAST * 10 ** value} %`,
  });

  function show() {
    const asked = controls.values, { connection, depth } = asked;
    const curves = (one, name) => shares(stacks, { ...asked, connection: one })
      .map((seed) => ({ points: seed.map((share, i) => [i, height(share)]), name }));
    const others = Object.keys(NAMES).filter((one) => one !== connection);
    map.draw({
      rows: words, columns: words, weights: cosines(stacks, asked, words.length),
    });
    lines.draw({
      lines: [
        ...others.flatMap((one) => curves(one, "last thin")),
        ...curves(connection, "thin"),
        { points: [[depth, 0], [depth, 4]], name: "here" },
      ],
      end: last, top: 4,
    });
    const at = shares(stacks, asked).map((seed) => seed[depth]);
    const [least, most] = [Math.min(...at), Math.max(...at)].map(percent);
    tell(`${NAMES[connection]}, ${depth} layers: ${least}` +
      `${most === least ? "" : ` to ${most}`} of the vectors differs between words, ` +
      `in ${at.length} draws of the weights.`);
  }
  const right = html("div",
    html("p.hint", "what differs between words, ‖X − X̄‖ / ‖X‖"), lines);
  add(html("div.beside", map, right), controls);
  return show;
}
