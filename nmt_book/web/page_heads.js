// The live page: each head is a switch, drawn by where it looks.

import { button, html, onArrows, reach, say, sum } from "./kit.js";
import { fill, percent, whole } from "./page_parts.js";
import { isTouched, keyOf, questionOf, UNTOUCHED } from "./page_state.js";
import { drawMap, TITLES, weightsOf } from "./viewer.js";

const WORST = 1.5; // nats: from here on a frame is as strong as it gets

export function makeHeads(page) {
  const { state, part } = page, { echo, told } = part;
  const measured = {}; // by question: head → how far log P falls without it
  part.heads.append(...page.data.ideas.map(({ asks, address }) =>
    html("p.idea", html("a", { href: `#${address}` }, asks))));

  /** The names of the heads of a kind, by layer. */
  const headsOf = (kind) => page.shown.now.kinds[kind].weights.map((heads, layer) =>
    heads.map((_, head) => `${kind}-${layer}-${head}`));

  const plain = () => questionOf(state, UNTOUCHED);

  function* draw() { // a kind in each frame
    const falls = measured[keyOf(plain())];
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
    const names = headsOf(kind);
    const group = (some, name, text) => button(text, () => press(some), {
      class: "whole", "data-id": some.join(" "), "aria-label": `switch off ${name}`,
      "aria-pressed": some.every((one) => state.closed.has(one)),
    });
    const head = names[0].map((_, i) => html("th", { scope: "col" }, `${i}`));
    const line = (heads, layer) => html("tr",
      html("th", { scope: "row" },
        group(names[layer], `${kind}, layer ${layer}`, `${layer}`)),
      ...heads.map((_, i) => html("td", headSwitch(kind, layer, i, falls))));
    return html("table", { "data-kind": kind },
      html("caption", group(names.flat(), `all of ${TITLES[kind]}`, kind)),
      html("thead", html("tr", html("td"), ...head)),
      html("tbody", ...names.map(line)));
  }

  function headSwitch(kind, layer, head, falls) {
    const name = `${kind}-${layer}-${head}`, off = state.closed.has(name);
    const { now, open } = page.shown; // one that is off shows its former map
    const maps = (off ? open ?? now : now).kinds[kind], { rows, columns } = maps;
    const fall = falls?.get(name);
    const costs = fall === undefined ? ""
      : `: without it, log P falls by ${fall.toFixed(2)}`;
    const says = `${kind}, layer ${layer}, head ${head}${costs}`;
    const map = drawMap(weightsOf(maps, layer, head), rows.length, columns.length);
    return button(map, () => press([name], { kind, layer, head }), {
      class: "switch", role: "switch", "aria-checked": !off, "aria-label": says,
      title: says, "data-id": name,
      style: costs && `--fall: ${Math.min(1, Math.max(0, fall) / WORST)}`,
    });
  }

  /** The translations before and after, here where the switches are. */
  function drawEcho() {
    const { now, open, stored } = page.shown;
    const says = (label, one) => [
      html("small", `${label}, probability ${percent(whole(one))}`),
      html("p", one.text),
    ];
    const hint = stored
      ? "With the model here, this shows what a head that is switched off changes."
      : "Switch off a head, and see here what it changes.";
    echo.replaceChildren(...(isTouched(state) && !stored
      ? [...says("before", open), ...says("now", now)] : [html("small", hint)]));
  }

  /** Switches off each head by itself: how far does log P of the same words fall? */
  async function weigh() {
    const asked = plain(), open = await page.answers.ask(asked), falls = new Map();
    if (!page.answers.has(asked.model)) return page.need();
    const names = Object.keys(TITLES).flatMap((kind) => headsOf(kind).flat());
    const same = { ...asked, beam: 1, heat: 0, draw: 0, prefix: open.ids };
    for (const name of names) {
      say(told, `${falls.size} of ${names.length}`);
      const found = await page.answers.ask({ ...same, closed: [name] });
      falls.set(name, sum(open.logProbs) - sum(found.logProbs));
      if (keyOf(plain()) !== keyOf(asked)) return say(told, ""); // another sentence
    }
    measured[keyOf(asked)] = falls;
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
