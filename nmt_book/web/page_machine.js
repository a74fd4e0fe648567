// The live page: the whole machine as one picture. Each station is a button, and it
// unfolds into its numbers for one word of this sentence, which page_look.js computes.

import { button, html, sayAll } from "./kit.js";
import {
  attended, embedded, fed, likely, remembered, subwords,
} from "./page_numbers.js";
import { questionOf } from "./page_state.js";

const LOOKS = " The query of the word is multiplied with each key, q · k. The " +
  "products, divided by the square root of the head's width, go through a softmax " +
  "and become weights. The head passes on the sum of the values, each times its " +
  "weight.";

export function makeMachine(page) {
  const { state, data, part } = page, { read, write, numbers } = part;
  const stations = [...part.stations.querySelectorAll("button")];
  let open = null, asked = "", place = 1; // open: a station

  function draw() {
    const { source, tokens, kinds } = page.shown.now;
    place = Math.min(place, source.length - 1);
    sayAll(part, {
      encoderLayers: `×${kinds.encoder.weights.length}`,
      decoderLayers: `×${kinds.decoder.weights.length}`,
    });
    options(read, source, place);
    options(write, tokens, state.step);
    if (open) show();
  }

  function options(select, tokens, chosen) {
    const texts = tokens.map((token, i) => `${i + 1}: ${token.replace("▁", "")}`);
    const there = [...select.options].map(({ text }) => text);
    const made = texts.map((text, i) => html("option", { value: i }, text));
    if (there.join() !== texts.join()) select.replaceChildren(...made);
    select.value = chosen;
  }

  function unfold(station) {
    open = open === station ? null : station;
    for (const one of stations) one.setAttribute("aria-expanded", one === open);
    numbers.hidden = !open;
    if (open) show();
  }

  /** The station that is open; the numbers before stay until the new ones are here. */
  async function show() {
    const { value: id } = open;
    const { now, stored } = page.shown, { step, layer } = state;
    const { sourceIds, ids } = now, head = Math.max(0, state.head);
    const there = page.answers.has(state.model);
    const where = { sourceIds, ids, place, step, layer, head, mean: state.head < 0 };
    const question = { ...questionOf(state), ...where };
    const mine = JSON.stringify([id, there, question]);
    if (mine === asked || (there && stored)) return; // there already, or on its way
    asked = mine;
    if (id === "subwords") return fill(subwords(now));
    if (!there) return fill(wanting());
    try {
      const found = await page.answers.look(question);
      if (mine === asked) fill(numbersOf(id, found));
    } catch (error) {
      if (mine === asked) fill([html("p", error.message)]);
    }
  }

  function wanting() {
    const { bytes } = page.models.all.get(state.model);
    const get = button("Fetch it", () => {
      get.disabled = true;
      page.need();
    }, { class: "main" });
    const size = `${(bytes / 1e6).toFixed(1)} MB`;
    return [html("div.row",
      html("span", `For these numbers, your browser needs the model: ${size}.`),
      get)];
  }

  function fill(inside) {
    const { value, textContent: name, dataset: { chapter, says } } = open;
    const side = stations.indexOf(open) < 5 ? "encoder" : "decoder";
    const number = `chapter ${chapter.slice(0, 2)}`;
    const link = data.chapters === undefined ? number
      : html("a", { href: `${data.chapters}${chapter}.html` }, number);
    const looks = value in page.shown.now.kinds ? LOOKS : "";
    const text = html("p.hint", `${says}${looks} More in `, link, ".");
    const held = numbers.contains(numbers.getRootNode().activeElement);
    numbers.replaceChildren(html("h3", `${name} (${side})`), text, ...inside);
    if (held) open.focus();
  }

  function numbersOf(id, found) {
    const { source, tokens, ids } = page.shown.now, one = found[id];
    const word = ["<sos>", ...tokens][state.step];
    if (id === "source") return embedded(source[place], one);
    if (id === "target") return embedded(word, one);
    if (id === "memory") return remembered(source, one);
    if (id === "output") return likely(one, ids[state.step]);
    const kind = id.replace("Fed", "");
    const token = kind === "encoder" ? source[place] : word;
    const { length } = page.shown.now.kinds[kind].weights;
    const layer = Math.min(state.layer, length - 1), head = Math.max(0, state.head);
    if (kind !== id) return fed(`Layer ${layer}, as in the maps above.`, one);
    const mean = state.head < 0 ? " (the maps show the mean of all heads)" : "";
    const off = state.closed.has(`${kind}-${layer}-${head}`)
      ? " It is switched off: its weights are zero." : "";
    const where = `Layer ${layer}, head ${head}, as in the maps above${mean}.${off}`;
    const keys = kind === "decoder" ? ["<sos>", ...tokens] : source;
    return attended(where, token, keys, one);
  }

  for (const one of stations) one.onclick = () => unfold(one);
  read.onchange = () => {
    place = +read.value;
    if (open) show();
  };
  write.onchange = () => page.go(+write.value);
  return { draw };
}
