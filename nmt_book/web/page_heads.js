// The live page: each head is a switch, drawn by where it looks.

import { html, say } from "./kit.js";
import { button, fill, percent, pressed, sum, whole } from "./page_parts.js";
import { isTouched, keyOf, questionOf, UNTOUCHED } from "./page_state.js";
import { drawMap, STEPS, TITLES, within } from "./viewer.js";

const HINT = "A map suggests; an intervention tests. Each square is a head, drawn by " +
  "where it looks. Press it, and it passes nothing on. A number on the left switches " +
  "off a layer, a heading a whole kind.";
const WORST = 1.5; // nats: from here on a square is as red as it gets

export function makeHeads(page) {
  const { state, data } = page;
  const measured = new Map(); // by question: head → how far log P falls without it
  const places = Object.fromEntries(Object.keys(TITLES).map((kind) =>
    [kind, html("div")]));
  const kinds = html("div", { class: "kinds" }, ...Object.values(places));
  const echo = html("div", { class: "echo", "aria-hidden": "true" });
  const allOn = button({ class: "quiet" });
  const measure = button({ class: "quiet" }, "Which one matters?");
  const told = html("span", { class: "at", role: "status" });
  const ideas = (data.ideas ?? []).map(({ asks, address }) =>
    html("p", { class: "idea" }, html("a", { href: `#${address}` }, asks)));
  const element = html("section", { class: "card", "aria-labelledby": "heads" },
    html("h2", { id: "heads" }, "Switch off a head"),
    html("p", { class: "hint" }, HINT), kinds, echo,
    html("div", { class: "row" }, allOn, measure, told), ...ideas);

  /** The names of the heads of a kind, or of one of its layers. */
  function headsOf(kind, layer) {
    const layers = [...page.shown.now.kinds[kind].weights.entries()];
    const chosen = layers.filter(([i]) => layer === undefined || i === layer);
    return chosen.flatMap(([i, heads]) =>
      heads.map((_, head) => `${kind}-${i}-${head}`));
  }

  const plain = () => questionOf(state, UNTOUCHED);

  function* draw() { // a kind in each frame
    const falls = measured.get(keyOf(plain()));
    if (!falls) say(told, "");
    allOn.hidden = !isTouched(state);
    const { size } = state.closed;
    say(allOn, size ? `Switch on all (${size} off)` : "Undo all");
    drawEcho();
    for (const [kind, place] of Object.entries(places)) {
      fill(place, tableOf(kind, falls));
      const focused = place.querySelector(".switch:focus");
      (focused ?? place.querySelector(".switch")).tabIndex = 0;
      yield;
    }
  }

  function tableOf(kind, falls) {
    const { weights } = page.shown.now.kinds[kind];
    const group = (names, name, text) => button({
      class: "whole", "data-id": names.join(" "), "aria-label": `switch off ${name}`,
      "aria-pressed": names.every((one) => state.closed.has(one)),
    }, text);
    const head = weights[0].map((_, i) => html("th", { scope: "col" }, `${i}`));
    const line = (heads, layer) => html("tr", {},
      html("th", { scope: "row" },
        group(headsOf(kind, layer), `${kind}, layer ${layer}`, `${layer}`)),
      ...heads.map((_, i) => html("td", {}, headSwitch(kind, layer, i, falls))));
    return html("table", { "data-kind": kind },
      html("caption", {}, group(headsOf(kind), `all of ${TITLES[kind]}`, kind)),
      html("thead", {}, html("tr", {}, html("td"), ...head)),
      html("tbody", {}, ...weights.map(line)));
  }

  function headSwitch(kind, layer, head, falls) {
    const name = `${kind}-${layer}-${head}`, off = state.closed.has(name);
    const { now, open } = page.shown; // one that is off shows its former map
    const { rows, columns, weights } = (off ? open ?? now : now).kinds[kind];
    const fall = falls?.get(name);
    const costs = `: without it, log P falls by ${fall?.toFixed(2)}`;
    const known = fall === undefined ? "" : costs;
    const says = `${kind}, layer ${layer}, head ${head}${known}`;
    const map = weights[layer][head].map((one) => one / 1000);
    const made = button({
      class: "switch", role: "switch", "aria-checked": !off, "aria-label": says,
      title: says, "data-id": name, tabindex: -1,
    }, drawMap(map, rows.length, columns.length));
    if (fall !== undefined)
      made.style.setProperty("--fall", Math.min(1, Math.max(0, fall) / WORST));
    return made;
  }

  /** The translations before and after, here where the switches are. */
  function drawEcho() {
    const { now, open, stored } = page.shown;
    const says = (label, one) => [
      html("small", {}, `${label}, probability ${percent(whole(one))}`),
      html("p", {}, one.text),
    ];
    if (isTouched(state) && !stored)
      return echo.replaceChildren(...says("before", open), ...says("now", now));
    const hint = stored
      ? "With the model here, this shows what a head that is switched off changes."
      : "Switch off a head, and see here what it changes.";
    echo.replaceChildren(html("small", {}, hint));
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
    say(told, "The redder, the more it matters for this sentence; most of all " +
      `${worst[0].replaceAll("-", " ")}.`);
    for (const _ of draw());
  }

  pressed(kinds, ({ dataset: { id } }) => {
    const names = id.split(" "), [kind, layer, head] = names[0].split("-");
    const closed = new Set(state.closed), off = names.every((name) => closed.has(name));
    for (const name of names) closed[off ? "delete" : "add"](name);
    const map = names.length === 1 ? { kind, layer: +layer, head: +head } : {};
    page.change({ ...map, closed });
  });
  kinds.addEventListener("keydown", (event) => {
    if (!STEPS[event.key] || !event.target.matches(".switch")) return;
    event.preventDefault();
    const [x, y] = STEPS[event.key];
    const [kind, layer, head] = event.target.dataset.id.split("-");
    const { weights } = page.shown.now.kinds[kind];
    const row = within([...weights.keys()], +layer + y);
    const column = within([...weights[0].keys()], +head + x);
    const next = kinds.querySelector(`[data-id="${kind}-${row}-${column}"]`);
    for (const one of next.closest("table").querySelectorAll(".switch"))
      one.tabIndex = one === next ? 0 : -1;
    next.focus();
  });
  allOn.addEventListener("click", () =>
    page.change({ closed: new Set(), hidden: new Set(), prefix: [] }));
  measure.addEventListener("click", weigh);
  return { element, draw };
}
