// The live page: each head is a switch, drawn by where it looks.

import { button, html, onArrows, reach, say, sum } from "./kit.js";
import { fill, percent, whole } from "./page_parts.js";
import { isTouched, keyOf, questionOf, UNTOUCHED } from "./page_state.js";
import { drawMap, TITLES, weightsOf } from "./viewer.js";

const WORST = 1.5; // nats: from here on a frame is as strong as it gets

export function makeHeads(page) {
  const { state, part } = page, { echo, told } = part;
  const measured = new Map(); // by question: head → how far log P falls without it
  part.heads.append(...page.data.ideas.map(({ asks, address }) =>
    html("p.idea", html("a", { href: `#${address}` }, asks))));

  /** The names of the heads of a kind, or of one of its layers. */
  const headsOf = (kind, layer) =>
    page.shown.now.kinds[kind].weights.flatMap((heads, i) => (layer ?? i) === i
      ? heads.map((_, head) => `${kind}-${i}-${head}`) : []);

  const plain = () => questionOf(state, UNTOUCHED);

  function* draw() { // a kind in each frame
    const falls = measured.get(keyOf(plain()));
    if (!falls) say(told, "");
    drawEcho();
    for (const kind of Object.keys(TITLES)) {
      fill(part[kind], tableOf(kind, falls));
      const all = [...part[kind].querySelectorAll(".switch")];
      reach(all, all.find((one) => one.matches(":focus")) ?? all[0]);
      yield;
    }
  }

  function tableOf(kind, falls) {
    const { weights } = page.shown.now.kinds[kind];
    const group = (names, name, text) => button(text, () => press(names), {
      class: "whole", "data-id": names.join(" "), "aria-label": `switch off ${name}`,
      "aria-pressed": names.every((one) => state.closed.has(one)),
    });
    const head = weights[0].map((_, i) => html("th", { scope: "col" }, `${i}`));
    const line = (heads, layer) => html("tr",
      html("th", { scope: "row" },
        group(headsOf(kind, layer), `${kind}, layer ${layer}`, `${layer}`)),
      ...heads.map((_, i) => html("td", headSwitch(kind, layer, i, falls))));
    return html("table", { "data-kind": kind },
      html("caption", group(headsOf(kind), `all of ${TITLES[kind]}`, kind)),
      html("thead", html("tr", html("td"), ...head)),
      html("tbody", ...weights.map(line)));
  }

  function headSwitch(kind, layer, head, falls) {
    const name = `${kind}-${layer}-${head}`, off = state.closed.has(name);
    const { now, open } = page.shown; // one that is off shows its former map
    const maps = (off ? open ?? now : now).kinds[kind], { rows, columns } = maps;
    const fall = falls?.get(name);
    const costs = `: without it, log P falls by ${fall?.toFixed(2)}`;
    const known = fall === undefined ? "" : costs;
    const says = `${kind}, layer ${layer}, head ${head}${known}`;
    const map = drawMap(weightsOf(maps, layer, head), rows.length, columns.length);
    const made = button(map, () => press([name], { kind, layer, head }), {
      class: "switch", role: "switch", "aria-checked": !off, "aria-label": says,
      title: says, "data-id": name,
    });
    if (fall !== undefined)
      made.style.setProperty("--fall", Math.min(1, Math.max(0, fall) / WORST));
    return made;
  }

  /** The translations before and after, here where the switches are. */
  function drawEcho() {
    const { now, open, stored } = page.shown;
    const says = (label, one) => [
      html("small", `${label}, probability ${percent(whole(one))}`),
      html("p", one.text),
    ];
    if (isTouched(state) && !stored)
      return echo.replaceChildren(...says("before", open), ...says("now", now));
    const hint = stored
      ? "With the model here, this shows what a head that is switched off changes."
      : "Switch off a head, and see here what it changes.";
    echo.replaceChildren(html("small", hint));
  }

  /** Switches off each head by itself: how far does log P of the same words fall? */
  async function weigh() {
    const asked = plain(), open = await page.answers.ask(asked), falls = new Map();
    if (!page.answers.has(asked.model)) return page.need();
    const names = Object.keys(TITLES).flatMap((kind) => headsOf(kind));
    const same = { ...asked, beam: 1, heat: 0, draw: 0, prefix: open.ids };
    for (const name of names) {
      say(told, `${falls.size} of ${names.length}`);
      const found = await page.answers.ask({ ...same, closed: [name] });
      falls.set(name, sum(open.logProbs) - sum(found.logProbs));
      if (keyOf(plain()) !== keyOf(asked)) return say(told, ""); // another sentence
    }
    measured.set(keyOf(asked), falls);
    const [worst] = [...falls].sort((a, b) => b[1] - a[1]);
    say(told, "The stronger its frame, the more it matters for this sentence; most " +
      `of all ${worst[0].replaceAll("-", " ")}.`);
    for (const _ of draw());
  }

  function press(names, map) {
    const closed = new Set(state.closed), off = names.every((name) => closed.has(name));
    for (const name of names) closed[off ? "delete" : "add"](name);
    page.change({ ...map, closed });
  }

  for (const kind of Object.keys(TITLES))
    onArrows(part[kind], () => [...part[kind].querySelectorAll("tbody tr")].map((row) =>
      [...row.querySelectorAll(".switch")]));
  part.measure.onclick = weigh;
  return { draw };
}
