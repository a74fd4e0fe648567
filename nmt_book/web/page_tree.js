// The live page: beam search as a tree. A box can be pressed: the search goes on there.

import { html, say, svg } from "./kit.js";
import { button, pressed, table } from "./page_parts.js";
import { ALPHAS, BEAMS } from "./page_state.js";
import { check, onArrows, within } from "./viewer.js";

const [W, H] = [104, 44]; // of a box, with its margins
const TREE = "A column is a step, a box a candidate with the log-probability of its " +
  "whole path. Blue goes on, green is finished, grey is dropped; the thick path " +
  "wins. Press a box, and the search starts from there.";
const GREEDY = "Greedy search keeps one prefix: it takes the most likely word and " +
  "never takes it back. With a beam of two or more, the search becomes a tree.";

const choices = (values, id, says) =>
  html("div", { class: "tabs", role: "radiogroup", "aria-labelledby": id },
    ...values.map((value) => button({
      role: "radio", value: value ?? "", "aria-label": says(value),
    }, says(value).split(",")[0])));

export function makeTree(page) {
  const { state } = page;
  const beams = choices(BEAMS, "size", (n) => (n === 1 ? "1, greedy search" : `${n}`));
  const own = (alpha) => (alpha === null ? "the model's" : `${alpha}`);
  const alphas = choices([null, ...ALPHAS], "alpha", own);
  const said = html("p", { class: "hint" });
  const region = (label) => html("div", {
    class: "scroll tree", tabindex: 0, role: "region", "aria-label": label,
  });
  const picture = region("the search tree"), numbers = region("the candidates");
  const summary = html("summary", {}, "The tree as a table");
  const details = html("details", {}, summary, numbers);
  const penalty = html("div", { class: "row" },
    html("span", { id: "alpha" }, "length penalty α"), alphas);
  const element = html("section", { class: "card", "aria-labelledby": "beam" },
    html("h2", { id: "beam" }, "Search with a beam"),
    html("div", { class: "row" },
      html("span", { id: "size" }, "prefixes kept at each step"), beams),
    penalty, said, picture, details);

  function draw() {
    const { ids, beam, trace: all } = page.shown.now, trace = traceOf();
    const further = (all.at(-1)?.step ?? 0) - ids.length - 1;
    for (const one of beams.children) check(one, +one.value === state.beam);
    for (const one of alphas.children)
      check(one, one.value === `${state.alpha ?? ""}`);
    const tree = beam > 1 && trace.length > 0;
    picture.hidden = details.hidden = !tree;
    penalty.hidden = state.beam === 1;
    const more = further > 0
      ? ` (The search went ${further} steps further, and found nothing better.)` : "";
    const later = "With the model here, this shows the search tree.";
    const none = beam === state.beam ? GREEDY : later;
    say(said, tree ? TREE + more : none);
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
    if (!details.open) return;
    const trace = traceOf();
    const word = new Map(trace.map(({ id, token }) => [id, token]));
    const joined = (prefix) => prefix.map((id) => word.get(id)).join("");
    const text = (prefix) => joined(prefix).replaceAll("▁", " ").trim() || "<sos>";
    numbers.replaceChildren(table(["step", "after", "word", "log P", "fate"],
      trace.map(({ step, prefix, token, logProb, fate }) =>
        [`${step}`, text(prefix), token, logProb.toFixed(2), fate])));
  }

  details.addEventListener("toggle", drawNumbers);

  function drawPicture(trace, ids) {
    const steps = new Map();
    for (const one of trace) steps.set(one.step, [...(steps.get(one.step) ?? []), one]);
    const tall = H * Math.max(...[...steps.values()].map(({ length }) => length));
    const middle = new Map([["", tall / 2]]), best = ids.join();
    const lines = svg("g"), boxes = svg("g");
    boxes.append(box(0, tall / 2, "start", [], "<sos>"));
    for (const [step, column] of steps) {
      const parent = ({ prefix }) => middle.get(prefix.join());
      // In the order of their parents: no lines cross.
      column.sort((a, b) => parent(a) - parent(b) || b.logProb - a.logProb);
      column.forEach((one, i) => {
        const path = [...one.prefix, one.id], key = path.join();
        const y = tall / 2 + H * (i - (column.length - 1) / 2), x = step * W;
        const wins = `${best},`.startsWith(`${key},`), z = parent(one);
        const kind = `${one.fate}${wins ? " best" : ""}`;
        const d = `M${x - 20} ${z}C${x - 6} ${z} ${x - 10} ${y} ${x + 4} ${y}`;
        lines.append(svg("path", { class: kind, d }));
        boxes.append(box(x, y, kind, path, one.token, one.logProb.toFixed(2)));
        middle.set(key, y);
      });
    }
    const width = W * (steps.size + 1) - 12, size = { width, height: tall };
    const view = { viewBox: `0 0 ${width} ${tall}`, "aria-hidden": "true" };
    picture.replaceChildren(svg("svg", { ...view, ...size }, lines, boxes));
  }

  function box(x, y, kind, path, ...texts) {
    const short = (text) => (text.length > 11 ? `${text.slice(0, 10)}…` : text);
    const shape = { x: 4, y: 3 - H / 2, width: W - 24, height: H - 6, rx: 6 };
    const place = (i) => ({ x: (W - 16) / 2, y: 14 * i - (texts.length > 1 ? 2 : -4) });
    const names = texts.map((text, i) => svg("text", place(i), short(text)));
    const at = { class: kind, transform: `translate(${x} ${y})` };
    const made = svg("g", at, svg("rect", shape), ...names);
    made.addEventListener("click", () =>
      page.change({ prefix: path.slice(0), step: Math.max(0, path.length - 1) }));
    return made;
  }

  const chooseBeam = (one) => {
    if (one) page.change({ beam: +one.value, heat: 0, step: 0 });
    return one;
  };
  const chooseAlpha = (one) => {
    if (one) page.change({ alpha: one.value === "" ? null : +one.value, step: 0 });
    return one;
  };
  for (const [group, choose] of [[beams, chooseBeam], [alphas, chooseAlpha]]) {
    pressed(group, choose);
    onArrows(group, (buttons, i, x, y) => choose(within(buttons, i + x + y)));
  }
  return { element, draw };
}
