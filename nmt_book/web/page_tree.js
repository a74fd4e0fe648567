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
  const beams = choice({ label: "prefixes kept at each step", values: BEAMS,
    names: { 1: "1, greedy search" } });
  const values = [null, ...ALPHAS], texts = { null: "the model's" };
  const alphas = choice({ label: "length penalty α", values, texts });
  part.beams.append(beams.element);
  part.alphas.append(alphas.element);
  let trace = []; // up to the step in which the best translation was finished

  function draw() {
    const { ids, beam, trace: all } = page.shown.now;
    trace = all.filter(({ step }) => step <= ids.length + 1);
    const further = all.at(-1)?.step - ids.length - 1;
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
    drawNumbers();
    const steps = range(1, trace.at(-1).step).map((step) =>
      trace.filter((one) => one.step === step));
    const tall = HIGH * Math.max(...steps.map(({ length }) => length));
    const root = { prefix: [], id: [], token: "<sos>", total: 0, at: tall / 2 };
    const nodes = { "": root }; // by path
    const columns = steps.map((step) => {
      const boxes = step.map((one) => {
        const key = [...one.prefix, one.id];
        const wins = `${ids},`.startsWith(`${key},`) ? " winner" : "";
        const parent = nodes[one.prefix], fate = one.fate + wins;
        return nodes[key] = { ...one, parent, total: one.logProb, fate };
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
    for (const { mark, prefix, id } of Object.values(nodes))
      mark.onclick = () =>
        page.change({ prefix: [...prefix, id].flat(), step: prefix.length });
  }

  function drawNumbers() {
    if (!treeAsTable.open) return;
    const words = Object.fromEntries(trace.map(({ id, token }) => [id, token]));
    const text = (prefix) => prefix.map((id) => words[id]).join("")
      .replaceAll("▁", " ").trim() || "<sos>";
    part.candidates.replaceChildren(table(["step", "after", "word", "log P", "fate"],
      trace.map(({ step, prefix, token, logProb, fate }) =>
        [`${step}`, text(prefix), token, logProb.toFixed(2), fate])));
  }

  treeAsTable.ontoggle = drawNumbers;

  beams.element.oninput = () =>
    page.change({ beam: beams.value, heat: 0, step: 0 });
  alphas.element.oninput = () => page.change({ alpha: alphas.value, step: 0 });
  return { draw };
}
