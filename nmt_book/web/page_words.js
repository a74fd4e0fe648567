// The live page: the most likely next words at each step, one of them for the reader to
// choose; greedy search, or sampling with a temperature.

import { button, choice, html, onArrows, sayAll } from "./kit.js";
import { fill, percent, subword } from "./page_parts.js";
import { HEATS } from "./page_state.js";

const PACE = 700; // milliseconds a word

export function makeWords(page) {
  const { state, part } = page, { written, was, next: rows } = part;
  const heats = choice({ label: "temperature", values: HEATS,
    names: { 0: "0, the most likely word" } });
  part.heat.prepend(heats.element);
  let playing = 0;

  function draw() {
    const { now, same } = page.shown, { tokens, steps, logProbs } = now;
    const t = state.step, chosen = state.prefix.length;
    written.dir = page.direction;
    fill(written, html("span.chip.special", "<sos>"),
      ...tokens.map((token, i) => {
        const p = Math.exp(logProbs[i]);
        const time = i === t ? " now" : i > t ? " later" : "";
        const by = i < chosen ? ", chosen by you" : "";
        return button(subword(token), () => go(i), {
          class: `chip${time}${by && " mine"}`, "data-id": i,
          tabindex: i === t ? 0 : -1, style: `--p: ${p}`,
          "aria-label": `${i + 1}: ${token}, probability ${percent(p)}${by}`,
          "aria-pressed": i === t,
        });
      }));
    const last = ["<sos>", ...tokens.slice(0, t)].slice(-3).join(" ");
    sayAll(part, {
      at: `word ${t + 1} of ${tokens.length}`,
      asks: `After ${last.replaceAll("▁", "")}, the most likely of all next words`,
    });
    was.hidden = !same;
    fill(rows, ...steps[t].map((one) => line(one, same?.steps[t])));
    heats.set(state.heat);
    part.redraw.hidden = !state.heat;
    part.again.hidden = !chosen;
  }

  /** One of the next words: its probability, and `others` with all heads on. */
  function line({ id, token, p }, others) {
    const { ids } = page.shown.now, { step, prefix } = state;
    const old = others?.find((one) => one.id === id)?.p;
    const bar = html("div.bar", { style: `--p: ${p}; --old: ${old ?? 0}` },
      ...(others ? [html("b")] : []));
    const taken = id === ids[step], mine = step < prefix.length ? " mine" : "";
    const before = old === undefined ? "–" : percent(old);
    const pressed = { "data-id": id, "aria-pressed": taken };
    const made = html("tr", { class: taken && `taken${mine}` },
      html("th", { scope: "row" }, button(subword(token), null, pressed)),
      html("td.wide", bar), html("td", percent(p)),
      ...(others ? [html("td.faint", before)] : []));
    made.onclick = () => page.change({ prefix: [...ids.slice(0, step), id] });
    return made;
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
  part.moves.onclick = ({ target: { value } }) => {
    if (value === "0") play();
    else if (value) go(state.step + +value);
  };
  onArrows(written, () => [[...written.querySelectorAll("button")]],
    ({ dataset: { id } }) => go(+id));
  heats.element.oninput = () =>
    page.change({ heat: heats.value, draw: 0, prefix: [], step: 0 });
  part.redraw.onclick = () =>
    page.change({ draw: state.draw + 1, step: 0 });
  part.again.onclick = () => {
    written.querySelector("[tabindex='0']").focus(); // this button goes
    page.change({ prefix: [] });
  };
  return { draw, stop };
}
