// The first card of the live page: a sentence, its translation, and what it rests on.

import { html, say } from "./kit.js";
import {
  button, fill, languageOf, percent, pressed, subword, whole,
} from "./page_parts.js";
import { isTouched } from "./page_state.js";
import { check, onArrows, within } from "./viewer.js";

const MOST = 1000; // letters
const HIDE = "subwords of the sentence: press one to hide it from the decoder";
const HOW = "A gold line under a word: the model was unsure of it.";
const UNKNOWN = "not in the vocabulary: the model sees <unk>";

export function makeAsk(page) {
  const { state, data } = page;
  const group = (kind, label, role = "group") =>
    html("div", { class: kind, role, "aria-label": label });
  const directions = group("tabs", "direction", "radiogroup");
  const learnt = html("p", { class: "hint learnt" });
  const from = html("span"), count = html("small");
  const to = html("span"), how = html("small");
  const plain = { spellcheck: "false", autocomplete: "off", dir: "auto" };
  const text = html("textarea", { id: "text", rows: 2, maxlength: MOST, ...plain });
  const source = group("chips", HIDE);
  const result = html("p", { class: "result", role: "status", dir: "auto" });
  const versus = html("p", { class: "versus", dir: "auto" });
  const note = html("p", { class: "note", role: "status" });
  const tries = html("div", { class: "row tries" });
  const examples = group("examples", "examples");
  const failures = group("examples", "failures");
  const link = button({ class: "quiet" }, "Copy link");
  const label = html("label", { class: "label", for: "text" }, from, count);
  const offer = html("div", { class: "slot" });
  const element = html("section", { class: "card ask", "aria-label": "translate" },
    directions, learnt,
    html("div", { class: "pair" },
      html("div", {}, label, text, source),
      html("div", {}, html("p", { class: "label" }, to, how), result, versus,
        html("p", { class: "hint" }, HOW))),
    note, tries, offer, examples, failures,
    ...(data.fragment ? [html("div", { class: "row" }, link)] : []));
  let listed = ""; // the model whose examples are there

  // What the reader types is hers: a text is written there only if it comes from
  // elsewhere, such as an example or an address.
  const write = () => { text.value = state.text; };

  function drawDirections() {
    directions.replaceChildren(...[...page.models.all.values()].map((model) =>
      button({ role: "radio", value: model.name, "aria-label": model.title },
        html("span", {}, model.title),
        html("span", { class: "short" }, `${model.source} → ${model.target}`))));
  }

  function drawTexts(model) {
    const made = (one, i) => button({
      class: "example", lang: model.source, dir: "auto", "data-id": i,
    }, one);
    const line = (says, texts = []) =>
      (texts.length ? [html("span", {}, says), ...texts.map(made)] : []);
    if (listed !== model.name) {
      fill(examples, ...line("Try", model.examples));
      fill(failures, ...line("Not a caption, and so it fails:", model.failures));
    }
    listed = model.name;
    for (const one of element.querySelectorAll(".example"))
      one.setAttribute("aria-pressed", one.textContent === state.text);
  }

  /** What this sentence is shown for: a head to switch off, in one press. */
  function drawTries() {
    const here = (data.ideas ?? []).filter(({ shows }) =>
      shows.model === state.model && shows.text === state.text.trim());
    fill(tries, ...here.map(({ says, shows }, i) => {
      const off = state.closed.size === 1 && state.closed.has(shows.closed);
      return button({
        class: "main", "data-id": i, value: shows.closed, "aria-pressed": off,
      }, off ? "Switch the head on again" : says);
    }));
  }

  function drawSource(now) {
    fill(source, ...(now?.source ?? []).map((token, i) => {
      const unknown = now.sourceIds[i] === data.unk;
      return button({
        class: unknown ? "chip unknown" : "chip", "data-id": i,
        "aria-pressed": state.hidden.has(i),
        title: unknown ? UNKNOWN : "press to hide it from the decoder",
      }, subword(token));
    }));
  }

  /** `typed`: another key may follow at once, so words do not fade in. */
  function draw(typed) {
    const { now, open, stored, tooLong } = page.shown;
    const model = page.models.all.get(state.model);
    for (const one of directions.children) check(one, one.value === state.model);
    text.lang = model.source;
    say(learnt, model.learnt ?? "");
    say(from, languageOf(model.source) || "Sentence");
    say(to, languageOf(model.target) || "Translation");
    drawTexts(model);
    drawTries();
    drawSource(now);
    const apart = stored && now && now.asked !== state.text.trim();
    const n = now?.length ?? tooLong;
    say(count, n ? `${n} of ${data.limit} subwords` : "");
    say(note, noteOf(now, apart));
    result.lang = versus.lang = model.target;
    result.classList.toggle("apart", Boolean(apart));
    result.classList.toggle("still", typed);
    const changed = now && isTouched(state) && !stored;
    const line = now ? wordsOf(now, changed ? open.text : null) : [];
    // What is there stays, else a screen reader would say it again.
    const held = html("p", {}, ...line.map((one) => one.cloneNode?.(true) ?? one));
    if (result.innerHTML !== held.innerHTML) result.replaceChildren(...line);
    source.dir = directionOf(text); // the chips as the words
    page.direction = directionOf(result);
    const kept = stored ? "stored · " : "";
    say(how, now ? `${kept}probability ${percent(whole(now))}` : "");
    versus.hidden = !changed;
    if (!changed) return;
    const before = `before, probability ${percent(whole(open))}`;
    const small = html("small", { lang: "en", dir: "ltr" }, before);
    versus.replaceChildren(small, open.text);
  }

  function noteOf(now, apart) {
    const { tooLong } = page.shown;
    const most = `This page reads ${data.limit} at most, and a shorter sentence ` +
      "comes out better, too.";
    if (tooLong) return `That makes ${tooLong} subwords. ${most}`;
    if (!state.text.trim()) return "Write a sentence, or take one of the examples.";
    if (apart) return "Until the model is here, this is the stored translation of " +
      `“${now.asked}”`;
    const unknown = now?.sourceIds.filter((id) => id === data.unk).length;
    const some = unknown === 1 ? "One subword is" : `${unknown} subwords are`;
    if (unknown) return `${some} not in the vocabulary (dashed): all that the model ` +
      "sees there is <unk>.";
    const full = text.value.length >= MOST;
    return full ? `The text is cut here, after ${MOST} letters.` : "";
  }

  /** The words that have been written so far, while others follow. */
  function drawGrowing(words) {
    result.classList.remove("apart");
    result.replaceChildren(words);
  }

  const chooseModel = (one) => {
    if (one && one.value !== state.model) {
      const { examples: [first] } = page.models.all.get(one.value);
      page.change({ model: one.value, text: first ?? state.text });
    }
    return one;
  };
  pressed(directions, chooseModel);
  onArrows(directions, (buttons, i, x, y) => chooseModel(within(buttons, i + x + y)));
  for (const row of [examples, failures])
    pressed(row, (one) => page.change({ text: one.textContent }));
  pressed(tries, ({ value }) => {
    const [kind, layer, head] = value.split("-"), off = state.closed.has(value);
    const map = { kind, layer: +layer, head: +head };
    page.change({ ...map, closed: new Set(off ? [] : [value]), prefix: [] });
  });
  pressed(source, ({ dataset: { id } }) => {
    const hidden = new Set(state.hidden);
    if (!hidden.delete(+id)) hidden.add(+id);
    page.change({ hidden, prefix: [] });
  });
  text.addEventListener("input", () => {
    page.change({ text: text.value }, true);
    page.typed();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    page.change({ text: text.value }, true);
  });
  link.addEventListener("click", async () => {
    const done = await navigator.clipboard?.writeText(location.href).catch(() => false);
    const copied = done === undefined && navigator.clipboard;
    say(link, copied ? "Copied" : "It is in the address bar");
    setTimeout(() => say(link, "Copy link"), 2000);
  });
  return {
    element, offer, draw, drawDirections, drawGrowing, write,
  };
}

/** Which way the text of an element runs. Its style says that after a layout only. */
const directionOf = (element) => (element.matches(":dir(rtl)") ? "rtl" : "ltr");

/** The words of a translation, each with how sure the model was of it; where `before`
 * is another translation, words that are new are marked. */
function wordsOf({ text, tokens, logProbs }, before) {
  const words = text.split(" "), sure = surenessOf(words, tokens, logProbs);
  const all = words.map(() => true);
  const kept = before === null ? all : inCommon(words, before.split(" "));
  const made = words.map((word, i) => {
    const one = html(kept[i] ? "span" : "mark", { class: "word" }, word);
    one.style.setProperty("--i", i);
    if (sure) {
      one.style.setProperty("--unsure", (1 - sure[i]).toFixed(2));
      one.title = `probability ${percent(sure[i])}`;
    }
    return one;
  });
  return made.flatMap((one, i) => (i ? [" ", one] : [one]));
}

/** The probability of each word: of its subwords, the product; null if they differ. */
function surenessOf(words, tokens, logProbs) {
  const groups = [], subwords = tokens.some((token) => token.startsWith("▁"));
  tokens.slice(0, tokens.at(-1) === "<eos>" ? -1 : undefined).forEach((token, i) => {
    if (!subwords || token.startsWith("▁") || !groups.length) groups.push(["", 0]);
    const last = groups.at(-1);
    last[0] += token.replace("▁", "");
    last[1] += logProbs[i];
  });
  const fits = groups.length === words.length &&
    groups.every(([word], i) => word === words[i]);
  return fits ? groups.map(([, logProb]) => Math.exp(logProb)) : null;
}

/** Which of the words belong to a longest sequence that both have in common. */
function inCommon(words, others) {
  const common = words.map(() => []).concat([[]]);
  for (let i = words.length; i >= 0; i--) for (let j = others.length; j >= 0; j--) {
    const end = i === words.length || j === others.length;
    if (end) common[i][j] = 0;
    else if (words[i] === others[j]) common[i][j] = 1 + common[i + 1][j + 1];
    else common[i][j] = Math.max(common[i + 1][j], common[i][j + 1]);
  }
  const kept = words.map(() => false);
  for (let i = 0, j = 0; i < words.length;) {
    if (words[i] === others[j]) kept[i] = true, i++, j++;
    else if (j < others.length && common[i][j + 1] >= common[i + 1][j]) j++;
    else i++;
  }
  return kept;
}
