// How alike the words become in a stack of fresh layers, on the numbers of depth.py.

import { choice, html, slider } from "../kit.js";
import { chart, grid } from "../pictures.js";

const NAMES = { none: "no residual", sum: "sum", post: "post-LN", pre: "pre-LN" };

/** The share of the vectors that differs between words, after each layer, by seed. */
export const shares = (stacks, { connection, init }) =>
  stacks[init][connection].shares.map((seed) => seed.map((log) => 10 ** (log / 100)));

/** The cosines of all words (S, S) after so many layers, of the first seed. */
export function cosines(stacks, { connection, init, depth }, S) {
  const pairs = stacks[init][connection].cosines[depth].map((one) => one / 100);
  const at = (i, j) => pairs[i * S - i * (i + 1) / 2 + j - i - 1]; // i < j
  return Array.from({ length: S }, (_, i) => Array.from({ length: S }, (_, j) =>
    (i === j ? 1 : at(Math.min(i, j), Math.max(i, j)))));
}

const LEAST = 1e-4;
const percent = (share) => (share <= LEAST ? "less than 0.01 %"
  : `${(100 * share).toPrecision(share < 0.995 ? 2 : 3)} %`);
const height = (share) => Math.log10(Math.max(share, LEAST) / LEAST); // 0 to 4

export function draw({ add, tell }, state, { stacks, words }) {
  const last = shares(stacks, state)[0].length - 1;
  const depth = slider({
    label: "layers", values: Array.from({ length: last + 1 }, (_, layer) => layer),
    value: state.depth, onInput: show,
  });
  const of = (label, value, options) =>
    choice({ label, value, options: Object.entries(options), onChange: show });
  const connection = of("around each sub-layer", state.connection, NAMES);
  const init = of("first weights", state.init,
    { xavier: "Xavier", torch: "PyTorch's own" });
  const map = grid({ label: "cosines of the words: 1 is dark", says: ["is like"] });
  const lines = chart({
    label: "what differs between words", x: "layers", y: "", width: 340, height: 210,
    mark: (value) => `${100 * LEAST * 10 ** value} %`,
  });

  function show() {
    const asked = {
      connection: connection.value, init: init.value, depth: depth.value,
    };
    const mine = shares(stacks, asked), at = mine.map((seed) => seed[asked.depth]);
    const curves = (all, name) => all.map((seed) =>
      ({ points: seed.map((share, layer) => [layer, height(share)]), name }));
    const others = Object.keys(NAMES).filter((one) => one !== asked.connection);
    const here = { points: [[asked.depth, 0], [asked.depth, 4]], name: "here" };
    map.draw({
      rows: words, columns: words, weights: cosines(stacks, asked, words.length),
    });
    lines.draw({
      lines: [
        ...others.flatMap((one) =>
          curves(shares(stacks, { ...asked, connection: one }), "last thin")),
        ...curves(mine, "thin"), here,
      ],
      end: last, top: 4,
    });
    const [least, most] = [Math.min(...at), Math.max(...at)].map(percent);
    tell(`${NAMES[asked.connection]}, ${asked.depth} layers: ${least}` +
      `${most === least ? "" : ` to ${most}`} of the vectors differs between words, ` +
      `in ${at.length} draws of the weights.`);
  }
  const right = html("div", {},
    html("p", { class: "hint" }, "what differs between words, ‖X − X̄‖ / ‖X‖"),
    lines.element);
  add(html("div", { class: "beside" }, map.element, right),
    html("div", { class: "controls" },
      depth.element, connection.element, init.element));
  show();
}
