// The live page: the most likely next words at each step, one of them for the reader to
// choose; greedy search, or sampling with a temperature.

import { html, say } from "./kit.js";
import { button, fill, percent, pressed, subword } from "./page_parts.js";
import { HEATS } from "./page_state.js";
import { check, onArrows, within } from "./viewer.js";

const HINT = "The model only ever says how likely each next word is. Press another " +
  "word, and the translation goes on from there.";
const MOVES = [
  ["first word", "⇤", -1e6], ["one word back", "←", -1],
  ["write it word by word", "▶", 0],
  ["one word on", "→", 1], ["last word", "⇥", 1e6],
];
const PACE = 700; // milliseconds a word

export function makeWords(page) {
  const { state } = page;
  const moves = html("div", { class: "tabs" }, ...MOVES.map(([name, sign, by]) =>
    button({ value: by, "aria-label": name, title: name }, sign)));
  const at = html("span", { class: "at" }), asks = html("span");
  const label = "words of the translation";
  const group = { class: "chips words", role: "group", "aria-label": label };
  const written = html("div", group);
  const was = html("th", { scope: "col" }, "all on"), rows = html("tbody");
  const radios = { class: "tabs", role: "radiogroup", "aria-labelledby": "heat" };
  const named = (heat) => (heat ? `${heat}` : "0, the most likely word");
  const heats = html("div", radios, ...HEATS.map((heat) =>
    button({ role: "radio", value: heat, "aria-label": named(heat) }, `${heat}`)));
  const redraw = button({ class: "quiet" }, "Draw again");
  const again = button({ class: "quiet" }, "Let the model choose again");
  const element = html("section", { class: "card", "aria-labelledby": "loop" },
    html("h2", { id: "loop" }, "Choose the next word"),
    html("p", { class: "hint" }, HINT),
    html("div", { class: "steps" }, moves, at), written,
    html("table", { class: "bars" },
      html("caption", {}, asks),
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "next word"),
        html("th", { scope: "col", colspan: 2 }, "probability"), was)),
      rows),
    html("div", { class: "row" },
      html("span", { id: "heat" }, "temperature"), heats, redraw),
    again);
  let grows = []; // the bars of now, and how long they become
  const lengths = new Map(); // of the bars, by id: from there they grow to the new one
  let playing = 0;

  function draw() {
    const { now, same } = page.shown, { tokens, steps, logProbs, ids } = now;
    const t = state.step, chosen = state.prefix.length;
    say(at, `word ${t + 1} of ${tokens.length}`);
    written.dir = page.direction;
    fill(written, html("span", { class: "chip special" }, "<sos>"),
      ...tokens.map((token, i) => {
        const p = Math.exp(logProbs[i]);
        const time = i === t ? " now" : i > t ? " later" : "";
        const by = i < chosen ? ", chosen by you" : "";
        const made = button({
          class: `chip${time}${by && " mine"}`, "data-id": i,
          tabindex: i === t ? 0 : -1,
          "aria-label": `${i + 1}: ${token}, probability ${percent(p)}${by}`,
          "aria-pressed": i === t,
        }, subword(token));
        made.style.setProperty("--p", p);
        return made;
      }));
    const last = ["<sos>", ...tokens.slice(0, t)].slice(-3).join(" ");
    const before = last.replaceAll("▁", "");
    say(asks, `After ${before}, the most likely of all next words`);
    was.hidden = !same;
    const mine = t < chosen && ids[t];
    grows = [];
    fill(rows, ...steps[t].map((one) => line(one, same?.steps[t], mine)));
    requestAnimationFrame(() => {
      if (!rows.offsetWidth) return; // laid out once, from where they grow
      for (const [bar, p] of grows) bar.style.setProperty("--p", p);
    });
    for (const one of heats.children) check(one, +one.value === state.heat);
    redraw.hidden = !state.heat;
    again.hidden = !chosen;
  }

  /** One of the next words: its probability, and `others` with all heads on. */
  function line({ id, token, p }, others, mine) {
    const old = others?.find((one) => one.id === id)?.p;
    const bar = html("div", { class: "bar" });
    bar.style.setProperty("--p", lengths.get(id) ?? p);
    grows.push([bar, p]);
    lengths.set(id, p);
    if (others) {
      bar.append(html("b"));
      bar.style.setProperty("--old", old ?? 0);
    }
    const taken = id === page.shown.now.ids[state.step];
    const kind = taken ? (id === mine ? "taken mine" : "taken") : "";
    const before = old === undefined ? "–" : percent(old);
    return html("tr", { class: kind },
      html("th", { scope: "row" },
        button({ "data-id": id, "aria-pressed": taken }, subword(token))),
      html("td", { class: "wide" }, bar), html("td", {}, percent(p)),
      ...(others ? [html("td", { class: "faint" }, before)] : []));
  }

  const stop = () => { playing = clearInterval(playing); };

  function play() {
    const end = page.shown.now.tokens.length - 1;
    if (playing) return stop();
    page.go(state.step === end ? 0 : state.step);
    const next = () => (state.step < end ? page.go(state.step + 1) : stop());
    playing = setInterval(next, PACE);
  }

  const go = (step) => {
    stop();
    page.go(step);
  };
  pressed(moves, ({ value }) =>
    (value === "0" ? play() : go(state.step + Number(value))));
  pressed(written, (one) => go(+one.dataset.id));
  onArrows(written, (buttons, i, x, y) => {
    go(i + x + y);
    return written.querySelector(`[data-id="${state.step}"]`);
  });
  pressed(rows, ({ dataset: { id } }) =>
    page.change({ prefix: [...page.shown.now.ids.slice(0, state.step), +id] }));
  const chooseHeat = (one) => {
    if (one) page.change({ heat: +one.value, draw: 0, prefix: [], step: 0 });
    return one;
  };
  pressed(heats, chooseHeat);
  onArrows(heats, (buttons, i, x, y) => chooseHeat(within(buttons, i + x + y)));
  redraw.addEventListener("click", () =>
    page.change({ draw: state.draw + 1, step: 0 }));
  again.addEventListener("click", () => page.change({ prefix: [] }));
  return { element, draw, stop };
}
