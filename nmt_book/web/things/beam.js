// The beam, step by step, on what beam.py has asked a model beforehand: `nodes` are
// prefixes, the first of them empty. A node's `next` are its most likely tokens, each
// [token, −log P · 10⁴, node that it leads to or −1], the most likely first. Only the
// most likely prefix of a step has `sums`, and all that is shown with a temperature.

import { choice, html, panel, player, range, signed, slider, svg } from "../kit.js";
import { bars } from "../pictures.js";

const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/** nmt_lib's beam search: the candidates of each step, and what has finished. */
export function search({ nodes, limit, eos }, { K, alpha }) {
  const steps = [], found = [];
  let open = [{ node: 0, total: 0, path: [], row: 0, fate: "kept" }];
  for (let t = 1; open.length; t++) {
    const all = open.flatMap((parent) => nodes[parent.node].next
      .filter(([token]) => t <= limit || token === eos) // no room for another word
      .map(([token, p, node]) => {
        const total = parent.total - p / 1e4, path = [...parent.path, token];
        return { token, node, parent, total, path };
      }));
    const candidates = all.sort((a, b) => b.total - a.total).slice(0, 2 * K);
    open = candidates.filter(({ token }) => token !== eos).slice(0, K);
    for (const [row, one] of candidates.entries()) {
      const kept = open.includes(one) ? "kept" : "dropped";
      one.fate = one.token === eos ? "finished" : kept;
      one.score = one.total / penalty(t, alpha);
      one.row = row;
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

const ALPHAS = range(0, 7).map((i) => i / 5);
const WIDE = 118, HIGH = 40, BOX = 96; // of a candidate with its twig, and of its box
const AT_ONCE = 4; // columns drawn in a frame

/** A step of the tree, the best on top. Each candidate gets a `mark`, its element. */
function column(candidates, tokens) {
  const left = WIDE - BOX - 1, middle = left + BOX / 2, centre = HIGH / 2 - 3;
  const all = candidates.map((one, row) => {
    const from = HIGH * (one.parent?.row ?? 0) + centre, y = HIGH * row;
    const word = one.parent ? tokens[one.token] : "<sos>", to = y + centre;
    const twig = `M0 ${from}C12 ${from} ${left - 12} ${to} ${left} ${to}`;
    one.mark = svg("g", { class: one.fate },
      svg("path", { class: "twig", d: one.parent ? twig : "" }),
      svg("rect", { x: left, y: y + 1, width: BOX, height: HIGH - 8, rx: 6 }),
      svg("text", { x: middle, y: y + 14 }, word),
      svg("text", { x: middle, y: y + 28 }, signed(one.total)));
    return one.mark;
  });
  const height = HIGH * candidates.length;
  return svg("svg", { viewBox: `0 0 ${WIDE} ${height}`, width: WIDE, height }, ...all);
}

export function draw({ add, tell }, state, { lattices, temperatures, longest }) {
  const step = slider({ label: "step", values: range(0, longest) });
  const go = player({ label: "Step by step", gap: 800, onTick: () =>
    step.value < searched().steps.length && step.next() });
  const texts = lattices.map(({ text }) => text);
  const which = choice({ label: "sentence", values: texts });
  const controls = panel({
    K: slider({ label: "beam size K", values: range(1, 5) }),
    alpha: slider({ label: "length penalty α", values: ALPHAS }), step,
  }, state, go);
  const tau = slider({ label: "temperature τ", values: temperatures });
  const tree = html("div", { class: "tree", "aria-hidden": "true" });
  const place = { tabindex: 0, role: "region", "aria-label": "the tree of the search" };
  const scroll = html("div", { class: "scroll", ...place }, tree);
  const likely = bars({ label: "" }), best = html("tbody");
  const head = html("tr", {}, ...["score", "log P", "finished translation"]
    .map((name) => html("th", { scope: "col" }, name)));
  const table = html("table", { class: "hypotheses" }, html("thead", {}, head), best);
  const known = {}; // searches, and the columns that are drawn of them

  function searched() {
    const lattice = lattices[texts.indexOf(which.value)];
    const { K, alpha } = controls.values;
    return known[[lattice.text, K, alpha]] ??=
      { ...search(lattice, { K, alpha }), lattice, columns: [] };
  }
  function grow(result, shown) {
    const { steps, found, columns, lattice } = result;
    const most = Math.min(shown + 1, columns.length + AT_ONCE);
    while (columns.length < most) // the first has <sos>
      columns.push(column(steps[columns.length - 1] ?? [steps[0][0].parent],
        lattice.tokens));
    if (tree.firstChild !== columns[0]) tree.replaceChildren();
    tree.append(...columns.slice(tree.childElementCount));
    columns.forEach((one, t) => one.toggleAttribute("hidden", t > shown));
    for (let one = found[0]; one; one = one.parent)
      one.mark?.classList.toggle("winner", shown === steps.length);
    scroll.scrollLeft = scroll.scrollWidth;
    if (most <= shown) requestAnimationFrame(() => searched() === result && show());
  }
  function show() {
    const result = searched(), { steps, lattice } = result, { K } = controls.values;
    const shown = Math.min(step.value, steps.length), done = shown === steps.length;
    const found = result.found.filter(({ path }) => path.length <= shown);
    const text = ({ path }) => written(lattice, path) || "(empty)";
    grow(result, shown);
    table.hidden = !found.length;
    best.replaceChildren(...found.slice(0, K).map((one) => html("tr", {},
      ...[signed(one.score), signed(one.total), text(one)].map((cell) =>
        html("td", {}, cell)))));
    const kept = shown ? steps[shown - 1].filter(({ fate }) => fate === "kept")
      : [steps[0][0].parent];
    const prefix = (one) => `“${shown ? text(one) : "<sos>"}”`;
    const node = lattice.nodes[kept[0]?.node]; // none is left after the last step
    if (node) {
      const some = heated(node, tau.value, temperatures).slice(0, 6);
      const rows = some.map(([token, p]) =>
        ({ name: lattice.tokens[token], share: p, text: p.toFixed(3) }));
      likely.draw(rows, `the next token after ${prefix(kept[0])}, temperature ` +
        tau.value);
    }
    tell(done ? `After ${shown} steps nothing can get better. Best: ${text(found[0])}`
      : `Step ${shown} of ${steps.length}: kept ${kept.map(prefix).join(", ")}; ` +
        `finished ${found.length}.`);
  }
  which.set(texts[0]);
  tau.set(state.temperature);
  add(...(texts.length > 1 ? [which] : []), scroll, controls, table, likely, tau);
  return show;
}
