// The live page: beam search as a tree. A box can be pressed: the search goes on there.

import { choice, range, say } from "./kit.js";
import { table } from "./page_parts.js";
import { ALPHAS, BEAMS } from "./page_state.js";
import { column, HIGH } from "./tree.js";

const TREE = "A column is a step, a box a candidate with the log-probability of its " +
  "whole path. A blue box goes on, a thick frame is finished, a broken one is " +
  "dropped; the shaded path wins. Press a box, and the search starts from there.";
const GREEDY = "Greedy search keeps one prefix: it takes the most likely word and " +
  "never takes it back. With a beam of two or more, the search becomes a tree.";

export function makeTree(page) {
  const { state, part } = page, { picture, treeAsTable } = part;
  const label = "prefixes kept at each step", names = { 1: "1, greedy search" };
  const beams = choice({ label, values: BEAMS, names });
  const texts = { null: "the model's" };
  const values = [null, ...ALPHAS];
  const alphas = choice({ label: "length penalty α", values, texts });
  part.beams.append(beams.element);
  part.alphas.append(alphas.element);

  function draw() {
    const { ids, beam, trace: all } = page.shown.now, trace = traceOf();
    const further = (all.at(-1)?.step ?? 0) - ids.length - 1;
    beams.set(state.beam);
    alphas.set(state.alpha);
    const tree = beam > 1 && trace.length > 0;
    picture.hidden = treeAsTable.hidden = !tree;
    part.alphas.hidden = state.beam === 1;
    const more = further > 0
      ? ` (The search went ${further} steps further, and found nothing better.)` : "";
    const later = "With the model here, this shows the search tree.";
    const none = beam === state.beam ? GREEDY : later;
    say(part.search, tree ? TREE + more : none);
    if (!tree) return;
    drawPicture(trace, ids);
    drawNumbers();
  }

  /** The candidates, up to the step in which the best translation was finished. */
  function traceOf() {
    const { ids, trace } = page.shown.now;
    return trace.filter(({ step }) => step <= ids.length + 1);
  }

  function drawNumbers() {
    if (!treeAsTable.open) return;
    const trace = traceOf();
    const word = new Map(trace.map(({ id, token }) => [id, token]));
    const joined = (prefix) => prefix.map((id) => word.get(id)).join("");
    const text = (prefix) => joined(prefix).replaceAll("▁", " ").trim() || "<sos>";
    part.candidates.replaceChildren(table(["step", "after", "word", "log P", "fate"],
      trace.map(({ step, prefix, token, logProb, fate }) =>
        [`${step}`, text(prefix), token, logProb.toFixed(2), fate])));
  }

  treeAsTable.ontoggle = drawNumbers;

  function drawPicture(trace, ids) {
    const all = range(1, trace.at(-1).step).map((step) =>
      trace.filter((one) => one.step === step));
    const tall = HIGH * Math.max(...all.map(({ length }) => length)), best = ids.join();
    const root = { prefix: [], id: [], token: "<sos>", total: 0, at: tall / 2 };
    const nodes = new Map([["", root]]); // by path
    const columns = all.map((step) => {
      const boxes = step.map((one) => {
        const key = [...one.prefix, one.id].join();
        const wins = `${best},`.startsWith(`${key},`) ? " winner" : "";
        const parent = nodes.get(one.prefix.join());
        const node = { ...one, parent, total: one.logProb, fate: one.fate + wins };
        nodes.set(key, node);
        return node;
      });
      // In the order of their parents: no lines cross.
      boxes.sort((a, b) => a.parent.at - b.parent.at || b.total - a.total);
      boxes.forEach((one, i) => {
        one.at = tall / 2 + HIGH * (i - (boxes.length - 1) / 2);
      });
      return boxes;
    });
    picture.replaceChildren(...[[root], ...columns].map((boxes) =>
      column(boxes, tall, ({ token }) => token)));
    for (const { mark, prefix, id } of nodes.values())
      mark.onclick = () =>
        page.change({ prefix: [...prefix, id].flat(), step: prefix.length });
  }

  beams.element.oninput = () =>
    page.change({ beam: beams.value, heat: 0, step: 0 });
  alphas.element.oninput = () =>
    page.change({ alpha: alphas.value, step: 0 });
  return { draw };
}
