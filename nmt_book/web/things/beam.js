// The beam, step by step, on what beam.py has asked a model beforehand: `nodes` are
// prefixes, the first of them empty. A node's `next` are its most likely tokens, each
// [token, −log P · 10⁴, node that it leads to or −1], the most likely first. Only the
// most likely prefix of a step has `sums`, and all that is shown with a temperature.

import { choice, html, panel, player, range, signed, slider } from "../kit.js";
import { bars } from "../pictures.js";
import { beamSearch } from "../beam_search.js";
import { column, HIGH } from "../tree.js";

/** nmt_lib's beam search: the candidates of each step, and what has finished. */
export function search({ nodes, limit, eos }, { K, alpha }) {
  const next = ({ node }, t) => nodes[node].next
    .filter(([token]) => t <= limit || token === eos) // no room for another word
    .map(([token, p, node]) => ({ token, logProb: -p / 1e4, node }));
  const all = [...beamSearch({ node: 0 }, next, { K, alpha, limit, eos })];
  return { steps: all.map(({ candidates }) => candidates), found: all.at(-1).found };
}

/** Probabilities of a node's tokens at a temperature: P^(1 / τ), made to sum to 1. */
export const heated = ({ next, sums }, tau, temperatures) => next.map(([token, p]) =>
  [token, Math.exp(-p / 1e4 / tau) / sums[temperatures.indexOf(tau)]]);

/** Tokens as text. */
export const written = ({ tokens, eos }, path) =>
  path.filter((token) => token !== eos).map((token) => tokens[token]).join("")
    .replaceAll("▁", " ").trim();

const ALPHAS = range(0, 7).map((i) => i / 5);
const AT_ONCE = 4; // columns drawn in a frame

/** A step of the tree, the best on top. */
function drawn(candidates, tokens) {
  candidates.forEach((one, row) => { one.at = HIGH * (row + 0.5) - 3; });
  return column(candidates, HIGH * candidates.length, ({ parent, token }) =>
    (parent ? tokens[token] : "<sos>"));
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
  const tree = html("div.tree", { "aria-hidden": "true" });
  const scroll = html("div.scroll",
    { tabindex: 0, role: "region", "aria-label": "the tree of the search" }, tree);
  const likely = bars({ label: "" }), best = html("tbody");
  const head = html("tr", ...["score", "log P", "finished translation"]
    .map((name) => html("th", { scope: "col" }, name)));
  const table = html("table.hypotheses", html("thead", head), best);
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
      columns.push(drawn(steps[columns.length - 1] ?? [steps[0][0].parent],
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
    best.replaceChildren(...found.slice(0, K).map((one) => html("tr",
      ...[signed(one.score), signed(one.total), text(one)].map((cell) =>
        html("td", cell)))));
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
