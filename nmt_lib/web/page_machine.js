// The live page: the whole machine as one picture. Each station is a button, and it
// unfolds into its numbers for one word of this sentence, which page_look.js computes.

import { html } from "./kit.js";
import { button, percent, subword } from "./page_parts.js";
import { questionOf } from "./page_state.js";

const N = 8; // numbers of a vector that are shown
const HINT = "The encoder, on the left, reads the whole sentence once. The decoder, on " +
  "the right, runs again for each word that it writes. Press a station to see what it " +
  "computes for the two words chosen here.";
const LOOKS = "A query is compared with the key of each word, q · k. Divided by √d_k, " +
  "the products go through a softmax and become weights, and the head passes on the " +
  "values' sum by these weights.";

// Where it is, its name, what it does, and its chapter; (column, row) of the picture.
const STATIONS = [
  ["subwords", 1, 1, "Text → subwords", "The text is cut into subwords of the " +
    "vocabulary, and each one is replaced by its number.", "01_tokenization"],
  ["source", 1, 2, "Embedding + position", "The number of a subword selects a learned " +
    "vector. A second vector, made of sines and cosines, says where the subword is, and " +
    "the model reads the sum of both.", "02_positional_encoding"],
  ["encoder", 1, 3, "Self-attention", "Each word of the source looks at all the " +
    `others. ${LOOKS}`, "04_attention"],
  ["encoderFed", 1, 4, "Feed-forward", "Two linear layers with a ReLU between them " +
    "work on each word alone. The result is added to what came in, and normalised.",
    "05_encoder"],
  ["memory", 1, 5, "Memory", "The last layer leaves one vector for each subword of the " +
    "source. These vectors are all that the decoder knows of the sentence.",
    "05_encoder"],
  ["target", 2, 3, "Embedding + position", "The decoder reads the words that it has " +
    "written so far, which begin with <sos>. This is the last one of them.",
    "06_decoder"],
  ["decoder", 2, 4, "Masked self-attention", "The last word looks at itself and at " +
    "the words before it. The later ones are not written yet; in training, a mask " +
    `hides them. ${LOOKS}`, "03_masks"],
  ["cross", 2, 5, "Cross-attention", "The query comes from the decoder, the keys and " +
    `values come from the memory. ${LOOKS}`, "04_attention"],
  ["decoderFed", 2, 6, "Feed-forward", "As in the encoder, two linear layers work on " +
    "the vector, and the result is added and normalised.", "06_decoder"],
  ["output", 2, 7, "Logits → next word", "The last vector is multiplied with the " +
    "vector of each word in the vocabulary. A softmax turns these logits into " +
    "probabilities, and the search chooses.", "08_inference"],
].map(([id, column, row, name, says, chapter]) =>
  ({ id, column, row, name, says, chapter }));

const digits = (x) => x.toFixed(2).replace("-", "−").replace("−0.00", "0.00");

/** The first numbers of a vector as coloured cells: blue is positive, gold negative. */
function cells(vector) {
  const tint = (x) => {
    const made = html("td", { class: x < 0 ? "below" : "" }, digits(x));
    made.style.setProperty("--w", Math.min(1, Math.abs(x) / 2));
    return made;
  };
  return [...vector].slice(0, N).map(tint);
}

/** A number from 0 to 1, with a bar behind it. */
function bar(p) {
  const made = html("td", { class: "weight" }, percent(p));
  made.style.setProperty("--p", p);
  return made;
}

const numeral = (text) => html("td", {}, text);
const named = (token) => html("th", { scope: "row" }, subword(token));
const line = (name, vector, ...rest) => html("tr", {},
  typeof name === "string" ? html("th", { scope: "row" }, name) : name,
  ...cells(vector), ...rest);

/** A table that scrolls by itself; `heads` are [text, columns]. */
function numbers(label, heads, lines) {
  const head = ([text, colspan]) => (text
    ? html("th", { scope: "col", colspan }, text) : html("td", {}));
  const made = html("table", { class: "look" }, html("caption", {}, label),
    html("thead", {}, html("tr", {}, ...heads.map(head))),
    html("tbody", {}, ...lines));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": label };
  return html("div", region, made);
}

const firstOf = (vector) => `the first ${Math.min(N, vector.length)} of ` +
  `${vector.length} numbers`;

export function makeMachine(page) {
  const { state, data } = page;
  let open = null, asked = "", place = 0;
  const chooser = (label) => {
    const select = html("select");
    const element = html("label", { class: "field" }, label, select);
    return { element, select };
  };
  const [read, written] = [chooser("word that is read"), chooser("word to write")];
  read.element.style.gridArea = "6 / 1 / 8 / 2";
  written.element.style.gridArea = "1 / 2 / 3 / 3";
  const buttons = STATIONS.map(({ id, name, column, row }) => {
    const made = button({
      class: `station ${id}`, "aria-expanded": false, "aria-controls": "numbers",
    }, name);
    made.style.gridArea = `${row} / ${column}`;
    made.addEventListener("click", () => unfold(id));
    return made;
  });
  // In the order of reading: for the keyboard.
  const picture = html("div", { class: "machine", role: "group",
    "aria-label": "the stations" }, ...buttons.slice(0, 5), read.element,
    written.element, ...buttons.slice(5));
  const panel = html("div", { id: "numbers", class: "panel", hidden: true });
  const element = html("section", { class: "card", "aria-labelledby": "machine" },
    html("h2", { id: "machine" }, "See the whole machine"),
    html("p", { class: "hint" }, HINT), picture, panel);

  function draw() {
    const { source, tokens } = page.shown.now;
    place = Math.min(place, source.length - 1);
    options(read.select, source, place);
    options(written.select, tokens, state.step);
    if (open) show();
  }

  function options(select, tokens, chosen) {
    const texts = tokens.map((token, i) => `${i + 1}: ${token.replace("▁", "")}`);
    const there = [...select.options].map(({ text }) => text);
    if (there.join() !== texts.join())
      select.replaceChildren(...texts.map((text, i) =>
        html("option", { value: i }, text)));
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
    const { source, tokens } = page.shown.now;
    const word = ["<sos>", ...tokens][state.step], one = found[id];
    if (id === "source") return embedded(source[place], one);
    if (id === "target") return embedded(word, one);
    if (id === "memory") return memory(source, one);
    if (id === "output") return output(one);
    const token = id.startsWith("encoder") ? source[place] : word;
    if (id.endsWith("Fed")) return fed(token, one, id.replace("Fed", ""));
    return attended(id, token, id === "decoder" ? ["<sos>", ...tokens] : source, one);
  }

  const subwords = ({ source, sourceIds: ids }) => [numbers(
    `${source.length} subwords, each with its number in the vocabulary`,
    [["subword", 1], ["number", 1]],
    source.map((token, i) => html("tr", {}, named(token), numeral(`${ids[i]}`))))];

  function embedded(token, { vector, position, sum, factor }) {
    const times = factor === 1 ? "" : `, times √${vector.length}`;
    return [numbers(`${token}: ${firstOf(vector)}`, [["", 1], ["", N]], [
      line(`its vector${times}`, vector), line("+ its position", position),
      line("= what the model reads", sum)])];
  }

  const layerOf = (kind) =>
    Math.min(state.layer, page.shown.now.kinds[kind].weights.length - 1);

  function attended(kind, token, words, one) {
    const { query, keys, products, scores, weights, values, sum } = one;
    const mean = state.head < 0 ? " (the maps above show the mean of all heads)" : "";
    const where = `Layer ${layerOf(kind)}, head ${Math.max(0, state.head)}${mean}. ` +
      `Of each vector: ${firstOf(query)}.`;
    const root = `÷ √${query.length}`;
    const scored = keys.map((key, s) => line(named(words[s]), key,
      numeral(digits(products[s])),
      numeral(Number.isFinite(scores[s]) ? digits(scores[s]) : "hidden"),
      bar(weights[s])));
    const weighed = values.map((value, s) =>
      line(named(words[s]), value, bar(weights[s])));
    const off = state.closed.has(`${kind}-${layerOf(kind)}-${Math.max(0, state.head)}`)
      ? " This head is switched off, so it passes on zeros." : "";
    return [html("p", { class: "note" }, where + off),
      numbers(`1. The query of ${token}, and the key of each word that it looks at`,
        [["", 1], ["key", N], ["q · k", 1], [root, 1], ["weight", 1]],
        [line(`query of ${token}`, query), ...scored]),
      numbers("2. The values, and their sum by these weights",
        [["", 1], ["value", N], ["weight", 1]], [...weighed, line("= sum", sum)])];
  }

  function fed(token, { hidden, y, result }, stack) {
    const above = hidden.filter((x) => x > 0).length;
    const layer = `Layer ${layerOf(stack)}, ${token}: after the ReLU, ${above} of ` +
      `${hidden.length} numbers are above zero. Of each vector: the first ${N}`;
    return [numbers(layer, [["", 1], ["", N]], [line("after the ReLU", hidden),
      line("after the second layer", y), line("added, normalised", result)])];
  }

  const memory = (source, rows) => [numbers(
    `One vector for each subword: ${firstOf(rows[0])}`, [["", 1], ["", N]],
    rows.map((row, s) => line(named(source[s]), row)))];

  const output = (best) => [numbers("The eight most likely words",
    [["word", 1], ["logit", 1], ["probability", 1]],
    best.map(({ token, logit, p, id }) => {
      const kind = id === page.shown.now.ids[state.step] ? "taken" : "";
      const cells = [named(token), numeral(digits(logit)), bar(p)];
      return html("tr", { class: kind }, ...cells);
    }))];

  read.select.addEventListener("change", () => {
    place = +read.select.value;
    if (open) show();
  });
  written.select.addEventListener("change", () => page.go(+written.select.value));
  return { element, draw };
}
