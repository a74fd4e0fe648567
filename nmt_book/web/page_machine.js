// The live page: the whole machine as one picture. Each station is a button, and it
// unfolds into its numbers for one word of this sentence, which page_look.js computes.

import { html, say } from "./kit.js";
import {
  attended, embedded, fed, likely, remembered, subwords,
} from "./page_numbers.js";
import { button } from "./page_parts.js";
import { questionOf } from "./page_state.js";

const HINT = "The encoder, on the left, reads the whole sentence once. The decoder, " +
  "on the right, runs again for each word that it writes. Press a station to see " +
  "what it computes for the two words chosen here.";
const LOOKS = "The query of the word is multiplied with each key, q · k. The " +
  "products, divided by the square root of the head's width, go through a softmax " +
  "and become weights. The head passes on the sum of the values, each times its " +
  "weight.";

// Its name in page_look.js, column and row, title, what it does, and its chapter.
const STATIONS = [
  ["subwords", 1, 1, "Text → subwords", "The text is cut into subwords of the " +
    "vocabulary, and each one is replaced by its number.", "01_tokenization"],
  ["source", 1, 2, "Embedding + position", "The number of a subword selects a " +
    "learned vector. A second one, made of sines and cosines, says where it is. " +
    "The model reads the sum of both.", "02_positional_encoding"],
  ["encoder", 1, 3, "Self-attention", "Each word of the source looks at all of them. " +
    LOOKS, "04_attention"],
  ["encoderFed", 1, 4, "Feed-forward", "Two linear layers with a ReLU between them " +
    "work on each word alone. What came in is added to the result.", "05_encoder"],
  ["memory", 1, 5, "Memory", "The last layer leaves one vector for each subword of " +
    "the source. These vectors are all that the decoder knows of it.", "05_encoder"],
  ["target", 2, 3, "Embedding + position", "The decoder reads the words that it has " +
    "written so far, after <sos>. This is the last one of them.", "06_decoder"],
  ["decoder", 2, 4, "Masked self-attention", "The last word looks at itself and at " +
    "the words before it. The later ones are not written yet; in training, a mask " +
    `hides them. ${LOOKS}`, "03_masks"],
  ["cross", 2, 5, "Cross-attention", "The query comes from the decoder, the keys and " +
    `values come from the memory. ${LOOKS}`, "04_attention"],
  ["decoderFed", 2, 6, "Feed-forward", "As in the encoder, two linear layers work on " +
    "the vector, and what came in is added to the result.", "06_decoder"],
  ["output", 2, 7, "Logits → next word", "The last vector is multiplied with the " +
    "vector of each word in the vocabulary. A softmax turns these logits into " +
    "probabilities, and the search chooses.", "08_inference"],
].map(([id, column, row, name, says, chapter]) =>
  ({ id, column, row, name, says, chapter }));

export function makeMachine(page) {
  const { state, data } = page;
  let open = null, asked = "", place = 1;
  const chooser = (label) => {
    const select = html("select");
    const element = html("label", { class: "field" }, label, select);
    return { element, select };
  };
  const [read, written] = [chooser("word to read"), chooser("word to write")];
  read.element.style.gridArea = "6 / 1 / 8 / 2";
  written.element.style.gridArea = "1 / 2 / 3 / 3";
  const buttons = STATIONS.map(({ id, name, column, row }) => {
    const says = { "aria-expanded": false, "aria-controls": "numbers" };
    const made = button({ class: `station ${id}`, ...says }, name);
    made.style.gridArea = `${row} / ${column}`;
    made.addEventListener("click", () => unfold(id));
    return made;
  });
  const stacks = ["encoder", "decoder"].map((name) =>
    html("div", { class: `stack ${name}-stack` }, html("span")));
  const group = { class: "machine", role: "group", "aria-label": "the stations" };
  const picture = html("div", group, ...stacks, ...buttons.slice(0, 5), read.element,
    written.element, ...buttons.slice(5));
  const panel = html("div", { id: "numbers", class: "panel", hidden: true });
  const element = html("section", { class: "card", "aria-labelledby": "machine" },
    html("h2", { id: "machine" }, "See the whole machine"),
    html("p", { class: "hint" }, HINT), picture, panel);

  function draw() {
    const { source, tokens, kinds } = page.shown.now;
    place = Math.min(place, source.length - 1);
    stacks.forEach((one, i) =>
      say(one.firstChild, `×${kinds[["encoder", "decoder"][i]].weights.length}`));
    options(read.select, source, place);
    options(written.select, tokens, state.step);
    if (open) show();
  }

  function options(select, tokens, chosen) {
    const texts = tokens.map((token, i) => `${i + 1}: ${token.replace("▁", "")}`);
    const there = [...select.options].map(({ text }) => text);
    const made = texts.map((text, i) => html("option", { value: i }, text));
    if (there.join() !== texts.join()) select.replaceChildren(...made);
    select.value = chosen;
  }

  function unfold(id) {
    open = open === id ? null : id;
    STATIONS.forEach((one, i) =>
      buttons[i].setAttribute("aria-expanded", one.id === open));
    panel.hidden = !open;
    if (open) show();
  }

  /** The station that is open; the numbers before stay until the new ones are here. */
  async function show() {
    const station = STATIONS.find(({ id }) => id === open);
    const { now, stored } = page.shown, { step, layer } = state;
    const { sourceIds, ids } = now, head = Math.max(0, state.head);
    const there = page.answers.has(state.model);
    const where = { sourceIds, ids, place, step, layer, head, mean: state.head < 0 };
    const question = { ...questionOf(state), ...where };
    const mine = JSON.stringify([open, there, question]);
    if (mine === asked || (there && stored)) return; // there already, or on its way
    asked = mine;
    if (open === "subwords") return write(station, subwords(now));
    if (!there) return write(station, wanting());
    try {
      const found = await page.answers.look(question);
      if (mine === asked) write(station, numbersOf(open, found));
    } catch (error) {
      if (mine === asked) write(station, [html("p", {}, error.message)]);
    }
  }

  function wanting() {
    const { bytes } = page.models.all.get(state.model);
    const get = button({ class: "main" }, "Fetch it");
    get.addEventListener("click", () => {
      get.disabled = true;
      page.need();
    });
    const size = `${(bytes / 1e6).toFixed(1)} MB`;
    return [html("div", { class: "row" },
      html("span", {}, `For these numbers, your browser needs the model: ${size}.`),
      get)];
  }

  function write({ column, name, says, chapter }, inside) {
    const side = column === 1 ? "encoder" : "decoder";
    const number = `chapter ${chapter.slice(0, 2)}`;
    const link = data.chapters === undefined ? number
      : html("a", { href: `${data.chapters}${chapter}.html` }, number);
    const text = html("p", { class: "hint" }, `${says} More in `, link, ".");
    const { activeElement } = panel.getRootNode(), held = panel.contains(activeElement);
    panel.replaceChildren(html("h3", {}, `${name} (${side})`), text, ...inside);
    if (held) buttons.find((one) => one.ariaExpanded === "true").focus();
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

  read.select.addEventListener("change", () => {
    place = +read.select.value;
    if (open) show();
  });
  written.select.addEventListener("change", () => page.go(+written.select.value));
  return { element, draw };
}
