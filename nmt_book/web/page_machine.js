// The live page: the whole machine as one picture. Each station is a button, and it
// unfolds into its numbers for one word of this sentence, which page_look.js computes.

import { button, html, sayAll, signed } from "./kit.js";
import { percent, subword, table } from "./page_parts.js";
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
    const { value: id } = open, { now, stored } = page.shown;
    const { sourceIds, ids } = now, { step, layer, head } = state;
    const there = page.answers.has(state.model);
    const where = { sourceIds, ids, place, step, layer, head };
    const question = { ...questionOf(state), ...where };
    const mine = JSON.stringify([id, there, question]);
    if (mine === asked || (there && stored)) return; // there already, or on its way
    asked = mine;
    if (id === "subwords") return fill(subwords(now));
    if (!there) return fill(wanting());
    try {
      const found =
        await page.answers.look({ ...question, head: Math.max(0, head) });
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
    const { source, tokens, ids, kinds } = page.shown.now, one = found[id];
    const written = ["<sos>", ...tokens], word = written[state.step];
    if (id === "source") return embedded(source[place], one);
    if (id === "target") return embedded(word, one);
    if (id === "memory") return remembered(source, one);
    if (id === "output") return likely(one, ids[state.step]);
    const kind = id.replace("Fed", ""), head = Math.max(0, state.head);
    const layer = Math.min(state.layer, kinds[kind].weights.length - 1);
    if (kind !== id) return fed(`Layer ${layer}, as in the maps above.`, one);
    const mean = state.head < 0 ? " (the maps show the mean of all heads)" : "";
    const off = state.closed.has(`${kind}-${layer}-${head}`)
      ? " It is switched off: its weights are zero." : "";
    const where = `Layer ${layer}, head ${head}, as in the maps above${mean}.${off}`;
    return attended(where, kind === "encoder" ? source[place] : word,
      kind === "decoder" ? written : source, one);
  }

  for (const one of stations) one.onclick = () => unfold(one);
  read.onchange = () => {
    place = +read.value;
    if (open) show();
  };
  write.onchange = () => page.go(+write.value);
  return { draw };
}

// The numbers of one station, as tables.

const N = 8; // numbers of a vector that are shown

const digits = (x) => signed(x).replace("−0.00", "0.00");

/** The first numbers of a vector as coloured cells: blue is positive, grey negative. */
const cells = (vector) => [...vector].slice(0, N).map((x) => html("td", {
  class: x < 0 && "below", style: `--w: ${Math.min(1, Math.abs(x) / 2)}`,
}, digits(x)));

/** A number from 0 to 1, with a bar behind it. */
const bar = (p) => html("td.weight", { style: `--p: ${p}` }, percent(p));

const plain = (token) => token.replace(/^▁(?=.)/, "");
const firstOf = ({ length }) => `the first ${Math.min(N, length)} of ${length} numbers`;
const VECTORS = ["", ["", N]];

/** A table under its title; it scrolls by itself. */
function numberTable(label, heads, rows) {
  const made = table(heads, rows, "look");
  made.ariaLabel = label;
  const region = { tabindex: 0, role: "region", "aria-label": label };
  return html("div", html("p", label), html("div.scroll", region, made));
}

const subwords = ({ source, sourceIds }) => [numberTable(
  `${source.length} subwords, each with its number in the vocabulary`,
  ["subword", "number"],
  source.map((token, i) => [subword(token), `${sourceIds[i]}`]))];

/** A token's vector, and that of its position. */
function embedded(token, { vector, position, sum, factor }) {
  const times = factor === 1 ? "" : `, times √${vector.length}`;
  return [numberTable(`${plain(token)}: ${firstOf(vector)}`, VECTORS, [
    [`its vector${times}`, ...cells(vector)], ["+ its position", ...cells(position)],
    ["= what is read", ...cells(sum)]])];
}

/** What the head that `where` names does with the query of a token. */
function attended(where, token, words, found) {
  const { query, keys, products, scores, weights, values, sum } = found;
  const names = words.slice(0, keys.length);
  const score = (x) => (Number.isFinite(x) ? digits(x) : "hidden");
  const told = html("p.note", `${where} Of each vector, ${firstOf(query)} are shown.`);
  const each = (cellsOf) => names.map((name, s) => [subword(name), ...cellsOf(s)]);
  return [told, html("div.tables",
    numberTable(`1. The query of ${plain(token)}, and the keys`,
      ["", ["query, keys", N]],
      [["query", ...cells(query)], ...each((s) => cells(keys[s]))]),
    numberTable("2. From products to weights",
      ["", "q · k", `÷ √${query.length}`, "softmax"],
      each((s) => [digits(products[s]), score(scores[s]), bar(weights[s])])),
    numberTable("3. The values, and their sum by these weights",
      ["", "weight", ["values", N]],
      [...each((s) => [bar(weights[s]), ...cells(values[s])]),
        ["sum", "", ...cells(sum)]]))];
}

function fed(where, { hidden, y, result }) {
  const above = hidden.filter((x) => x > 0).length;
  const told = html("p.note", `${where} After the ReLU, ${above} of ` +
    `${hidden.length} numbers are above zero.`);
  return [told, numberTable(`The first ${N} numbers of each vector`, VECTORS, [
    ["after the ReLU", ...cells(hidden)], ["after both layers", ...cells(y)],
    ["what comes out", ...cells(result)]])];
}

const remembered = (source, rows) => [numberTable(
  `One vector for each subword: ${firstOf(rows[0])}`, VECTORS,
  rows.map((row, s) => [subword(source[s]), ...cells(row)]))];

/** The most likely words; `taken` is the id of the one that was written. */
function likely(best, taken) {
  const heads = ["word", "logit", "probability"];
  const made = numberTable("The eight most likely words", heads,
    best.map(({ token, logit, p }) => [subword(token), digits(logit), bar(p)]));
  const at = best.findIndex(({ id }) => id === taken);
  made.querySelectorAll("tbody tr")[at]?.classList.add("taken");
  return [made];
}
