// The beam, step by step, on what beam.py has asked a model beforehand: `nodes` are
// prefixes, the first of them empty. A node's `next` are its most likely tokens, each
// [token, −log P · 10⁴, node that it leads to or −1], the most likely first. Only the
// most likely prefix of a step has `sums`, and all that is shown with a temperature.

import { choice, html, player, slider, svg } from "../kit.js";
import { bars } from "../pictures.js";

const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/** nmt_lib's beam search: the candidates of each step, and what has finished. */
export function search({ nodes, limit, eos }, { K, alpha }) {
  const steps = [], found = [];
  let open = [{ node: 0, total: 0, path: [] }];
  for (let t = 1; open.length; t++) {
    const all = open.flatMap((parent) => nodes[parent.node].next
      .filter(([token]) => t <= limit || token === eos) // no room for another word
      .map(([token, p, node]) => {
        const total = parent.total - p / 1e4, path = [...parent.path, token];
        return { token, node, parent, total, path };
      }));
    const candidates = all.sort((a, b) => b.total - a.total).slice(0, 2 * K);
    open = candidates.filter(({ token }) => token !== eos).slice(0, K);
    for (const one of candidates) {
      const kept = open.includes(one) ? "kept" : "dropped";
      one.fate = one.token === eos ? "finished" : kept;
      one.score = one.total / penalty(t, alpha);
    }
    found.push(...candidates.filter(({ fate }) => fate === "finished"));
    found.sort((a, b) => b.score - a.score);
    steps.push(candidates);
    // Log-probabilities only fall, and the penalty is largest at the length limit.
    const reach = (open[0]?.total ?? -Infinity) / penalty(limit + 1, alpha);
    if (reach <= (found[K - 1]?.score ?? -Infinity)) break;
  }
  return { steps, found };
}

/** Probabilities of a node's tokens at a temperature: P^(1 / τ), made to sum to 1. */
export const heated = ({ next, sums }, tau, temperatures) => next.map(([token, p]) =>
  [token, Math.exp(-p / 1e4 / tau) / sums[temperatures.indexOf(tau)]]);

/** Tokens as text. */
export const written = ({ tokens, eos }, path) =>
  path.filter((token) => token !== eos).map((token) => tokens[token]).join("")
    .replaceAll("▁", " ").trim();

const signed = (number) => number.toFixed(2).replace("-", "−");
const WIDE = 118, HIGH = 40, BOX = 96;

/** The tree of the first steps: a column a step, the best on top. */
function tree({ tokens }, { steps, found }, shown) {
  const place = new Map(), lines = [], boxes = [], done = shown === steps.length;
  const winner = new Set();
  for (let one = done && found[0]; one; one = one.parent) winner.add(one);
  const box = (one, [x, y], word, number, kind) => boxes.push(svg("g",
    { class: `box ${kind}${winner.has(one) ? " winner" : ""}` },
    svg("rect", { x, y, width: BOX, height: HIGH - 8, rx: 6 }),
    svg("text", { x: x + BOX / 2, y: y + 13, "text-anchor": "middle" }, word),
    svg("text", { x: x + BOX / 2, y: y + 27, "text-anchor": "middle" }, number)));
  const root = steps[0][0].parent;
  place.set(root, [1, 1]);
  box(root, [1, 1], "<sos>", "0", "kept");
  steps.slice(0, shown).forEach((candidates, t) => candidates.forEach((one, i) => {
    const at = [1 + (t + 1) * WIDE, 1 + i * HIGH], [x, y] = place.get(one.parent);
    const from = [x + BOX, y + HIGH / 2 - 4], to = [at[0], at[1] + HIGH / 2 - 4];
    place.set(one, at);
    lines.push(svg("path", { class: `twig ${winner.has(one) ? "winner" : one.fate}`,
      d: `M${from}C${from[0] + 12} ${from[1]} ${to[0] - 12} ${to[1]} ${to}` }));
    box(one, at, tokens[one.token], signed(one.total), one.fate);
  }));
  const rows = Math.max(1, ...steps.slice(0, shown).map(({ length }) => length));
  const width = (shown + 1) * WIDE, height = rows * HIGH;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "tree",
    "aria-hidden": "true" }, ...lines, ...boxes);
}

export function draw({ add, tell }, state, { lattices, temperatures, longest }) {
  const numbers = (from, to) =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const which = choice({
    label: "sentence", options: lattices.map(({ text }, i) => [i, text]), value: 0,
    onChange: show,
  });
  const of = (label, values, value) => slider({ label, values, value, onInput: show });
  const K = of("beam size K", numbers(1, 5), state.K);
  const alpha = of("length penalty α",
    numbers(0, 7).map((one) => one / 5), state.alpha);
  const step = of("step", numbers(0, longest), state.step);
  const tau = of("temperature τ", temperatures, state.temperature);
  const go = player({ label: "Step by step", gap: 800, onTick: () => {
    if (step.value >= now().steps.length) return false;
    step.set(step.value + 1);
    show();
  } });
  const place = { tabindex: 0, role: "region", "aria-label": "the tree of the search" };
  const scroll = html("div", { class: "scroll", ...place });
  const likely = bars({ label: "" }), best = html("tbody");
  const names = ["score", "log P", "finished translation"];
  const head = html("tr", {}, ...names.map((name) =>
    html("th", { scope: "col" }, name)));
  const table = html("table", { class: "hypotheses" }, html("thead", {}, head), best);
  const now = () => search(lattices[which.value], { K: K.value, alpha: alpha.value });

  function show() {
    const lattice = lattices[which.value], result = now(), { steps } = result;
    const shown = Math.min(step.value, steps.length), done = shown === steps.length;
    const found = result.found.filter(({ path }) => path.length <= shown);
    const text = ({ path }) => written(lattice, path) || "(empty)";
    scroll.replaceChildren(tree(lattice, result, shown));
    scroll.scrollLeft = scroll.scrollWidth;
    table.hidden = !found.length;
    best.replaceChildren(...found.slice(0, K.value).map((one) => html("tr", {},
      ...[signed(one.score), signed(one.total), text(one)].map((cell) =>
        html("td", {}, cell)))));
    const kept = shown ? steps[shown - 1].filter(({ fate }) => fate === "kept")
      : [steps[0][0].parent];
    const node = lattice.nodes[kept[0]?.node]; // none is left after the last step
    if (node) {
      const some = heated(node, tau.value, temperatures).slice(0, 6);
      likely.draw(some.map(([token, p]) => ({
        name: lattice.tokens[token], share: p, text: p.toFixed(3),
      })), `the next token after “${shown ? text(kept[0]) : "<sos>"}”, temperature ` +
        tau.value);
    }
    tell(done ? `After ${shown} steps nothing can get better. Best: ${text(found[0])}`
      : `Step ${shown} of ${steps.length}: kept ` +
        `${kept.map((one) => `“${shown ? text(one) : "<sos>"}”`).join(", ")}; ` +
        `finished ${found.length}.`);
  }
  add(...(lattices.length > 1 ? [which.element] : []), scroll,
    html("div", { class: "controls" }, K.element, alpha.element, step.element,
      go.element), table, likely.element, tau.element);
  show();
}
