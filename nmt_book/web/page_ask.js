// The first card of the live page: a sentence, its translation, and what it rests on.

import { button, choice, html, say, sayAll } from "./kit.js";
import { fill, languageOf, percent, subword, whole } from "./page_parts.js";
import { isTouched, MOST } from "./page_state.js";

const UNKNOWN = "not in the vocabulary: the model sees <unk>";

export function makeAsk(page) {
  const { state, data, part } = page, { text, result, versus, link } = part;
  let directions;
  part.share.hidden = !data.fragment;
  text.maxLength = MOST;

  // What the reader types is hers: a text is written there only if it comes from
  // elsewhere, such as an example or an address.
  const write = () => { text.value = state.text; };

  function drawDirections() {
    const texts = {}, names = {};
    for (const { name, title, source, target } of page.models.all.values()) {
      texts[name] =
        [html("span", title), html("span.short", `${source} → ${target}`)];
      names[name] = title;
    }
    directions = choice({ label: "direction", texts, names });
    directions.element.oninput = () => {
      const { name, examples: [first] } = page.models.all.get(directions.value);
      page.change({ model: name, text: first ?? state.text });
    };
    part.directions.replaceChildren(directions.element);
  }

  function drawTexts(model) {
    const made = (one, i) => button(one, () => page.change({ text: one }), {
      class: "example", lang: model.source, dir: "auto", "data-id": i,
      "aria-pressed": one === state.text,
    });
    const line = (says, texts = []) =>
      (texts.length ? [html("span", says), ...texts.map(made)] : []);
    fill(part.examples, ...line("Try", model.examples));
    fill(part.failures, ...line("Not a caption, and so it fails:", model.failures));
  }

  /** What this sentence is shown for: a head to switch off, in one press. */
  function drawTries() {
    fill(part.tries, ...data.ideas.flatMap(({ says, shows }, i) => {
      const { model, text, kind, layer, head, closed } = shows;
      const fits = text === state.text.trim(), off = state.closed.has(closed);
      if (model !== state.model || !(fits || data.brief)) return [];
      const switches = fits ? says : "Switch off the same head";
      return [button(off ? "Switch the head on again" : switches, () => page.change({
        kind, layer, head, closed: new Set(off ? [] : [closed]), prefix: [],
      }), { class: "main", "data-id": i, "aria-pressed": off })];
    }));
  }

  function drawSource(now) {
    fill(part.source, ...(now?.source ?? []).map((token, i) => {
      const unknown = now.sourceIds[i] === data.unk;
      return button(subword(token), () => {
        const hidden = new Set(state.hidden);
        if (!hidden.delete(i)) hidden.add(i);
        page.change({ hidden, prefix: [] });
      }, {
        class: unknown ? "chip unknown" : "chip", "data-id": i,
        "aria-pressed": state.hidden.has(i),
        title: unknown ? UNKNOWN : "press to hide it from the decoder",
      });
    }));
  }

  /** `typed`: another key may follow at once, so words do not fade in. */
  function draw(typed) {
    const { now, open, stored, tooLong } = page.shown, { size } = state.closed;
    const model = page.models.all.get(state.model);
    directions.set(state.model);
    text.lang = model.source;
    drawTexts(model);
    drawTries();
    drawSource(now);
    const n = now?.length ?? tooLong, kept = stored ? "stored · " : "";
    sayAll(part, {
      learnt: model.learnt ?? "",
      from: languageOf(model.source) || "Sentence",
      to: languageOf(model.target) || "Translation",
      count: n ? `${n} of ${data.limit} tokens` : "",
      how: now ? `${kept}probability ${percent(whole(now))}` : "",
      note: noteOf(now), link: "Copy link",
      send: model.url ? "" : "A link does not hold your model: send its file as well.",
    });
    part.off.hidden = !size;
    part.off.replaceChildren(`${size} ${size === 1 ? "head is" : "heads are"} off · `,
      html("u", "switch on"));
    result.lang = versus.lang = model.target;
    result.classList.toggle("still", typed);
    const changed = now && isTouched(state) && !stored;
    const line = now ? wordsOf(now, changed ? open.text : null) : [];
    // What is there stays, else a screen reader would say it again.
    const held = html("p", ...line.map((one) => one.cloneNode?.(true) ?? one));
    if (result.innerHTML !== held.innerHTML) result.replaceChildren(...line);
    part.source.dir = directionOf(text); // the chips as the words
    page.direction = directionOf(result);
    versus.hidden = !changed;
    if (!changed) return;
    const without = state.hidden.size + state.prefix.length ? "before" : "all heads on";
    versus.replaceChildren(html("small", { lang: "en", dir: "ltr" },
      `${without}, probability ${percent(whole(open))}`), open.text);
  }

  function noteOf(now) {
    const { tooLong, failed } = page.shown;
    if (failed) return `This model cannot translate this text: ${failed}.`;
    const most = `This page reads ${data.limit} at most, and a shorter sentence ` +
      "comes out better, too.";
    if (tooLong) return `That makes ${tooLong} tokens. ${most}`;
    if (!state.text.trim()) return "Write a sentence, or take one of the examples.";
    if (state.gone) return "This address is about a model that is not here; this is " +
      "another one. If you have its file, open it below.";
    if (now?.text === "") return "The model writes nothing: its first token is <eos>.";
    const unknown = now?.sourceIds.filter((id) => id === data.unk).length;
    const some = unknown === 1 ? "One token is" : `${unknown} tokens are`;
    if (unknown) return `${some} not in the vocabulary (dotted): all that the model ` +
      "sees there is <unk>.";
    if (state.hidden.size) return "The decoder does not see what is crossed out.";
    return text.value.length < MOST ? ""
      : `The text is cut here, after ${MOST} letters.`;
  }

  /** The words that have been written so far, while others follow. */
  const drawGrowing = (words) => result.replaceChildren(words);

  const follow = () => page.change({ text: text.value }, true);
  text.oninput = () => {
    follow();
    page.typed();
  };
  text.onkeydown = (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    follow();
  };
  part.off.onclick = () => {
    page.change({ closed: new Set() });
    result.focus(); // the chip goes
  };
  link.onclick = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say(link, "Copied");
    } catch {
      say(link, "It is in the address bar");
    }
  };
  return { draw, drawDirections, drawGrowing, write };
}

/** Which way the text of an element runs. Its style says that after a layout only. */
const directionOf = (element) => (element.matches(":dir(rtl)") ? "rtl" : "ltr");

/** The words of a translation, each with how sure the model was of it; where `before`
 * is another translation, words that are new are marked. */
function wordsOf({ text, tokens, logProbs }, before) {
  const words = text.split(" "), sure = surenessOf(words, tokens, logProbs);
  const kept = inCommon(words, (before ?? text).split(" "));
  return words.flatMap((word, i) => [...(i ? [" "] : []),
    html(kept[i] ? "span" : "mark", {
      class: "word", title: sure && `probability ${percent(sure[i])}`,
      style: `--i: ${i}${sure ? `; --unsure: ${(1 - sure[i]).toFixed(2)}` : ""}`,
    }, word)]);
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
  const common = [...words, ""].map(() => Array(others.length + 1).fill(0));
  for (let i = words.length; i--;)
    for (let j = others.length; j--;)
      common[i][j] = words[i] === others[j] ? 1 + common[i + 1][j + 1]
        : Math.max(common[i + 1][j], common[i][j + 1]);
  let j = 0;
  return words.map((word, i) => {
    while (j < others.length && word !== others[j] &&
      common[i][j + 1] >= common[i + 1][j]) j++;
    return word === others[j] && ++j > 0;
  });
}
