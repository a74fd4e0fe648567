// The live page: the numbers of one station of the machine, as tables.

import { html } from "./kit.js";
import { percent, subword, table } from "./page_parts.js";

const N = 8; // numbers of a vector that are shown

const digits = (x) => x.toFixed(2).replace("-", "−").replace("−0.00", "0.00");

/** The first numbers of a vector as coloured cells: blue is positive, grey negative. */
function cells(vector) {
  const tint = (x) => {
    const made = html("td", { class: x < 0 && "below" }, digits(x));
    made.style.setProperty("--w", Math.min(1, Math.abs(x) / 2));
    return made;
  };
  return [...vector].slice(0, N).map(tint);
}

/** A number from 0 to 1, with a bar behind it. */
function bar(p) {
  const made = html("td.weight", percent(p));
  made.style.setProperty("--p", p);
  return made;
}

const plain = (token) => token.replace(/^▁(?=.)/, "");
const firstOf = ({ length }) => `the first ${Math.min(N, length)} of ${length} numbers`;
const VECTORS = ["", ["", N]];

/** A table under its title; it scrolls by itself. */
function numbers(label, heads, rows) {
  const made = table(heads, rows, "look");
  made.ariaLabel = label;
  const region = { tabindex: 0, role: "region", "aria-label": label };
  return html("div", html("p", label), html("div.scroll", region, made));
}

export const subwords = ({ source, sourceIds }) => [numbers(
  `${source.length} subwords, each with its number in the vocabulary`,
  ["subword", "number"],
  source.map((token, i) => [subword(token), `${sourceIds[i]}`]))];

/** A token's vector, and that of its position. */
export function embedded(token, { vector, position, sum, factor }) {
  const times = factor === 1 ? "" : `, times √${vector.length}`;
  return [numbers(`${plain(token)}: ${firstOf(vector)}`, VECTORS, [
    [`its vector${times}`, ...cells(vector)], ["+ its position", ...cells(position)],
    ["= what is read", ...cells(sum)]])];
}

/** What the head that `where` names does with the query of a token. */
export function attended(where, token, words, found) {
  const { query, keys, products, scores, weights, values, sum } = found;
  const names = words.slice(0, keys.length);
  const score = (x) => (Number.isFinite(x) ? digits(x) : "hidden");
  const told = html("p.note", `${where} Of each vector, ${firstOf(query)} are shown.`);
  const each = (cellsOf) => names.map((name, s) => [subword(name), ...cellsOf(s)]);
  return [told, html("div.tables",
    numbers(`1. The query of ${plain(token)}, and the keys`,
      ["", ["query, keys", N]],
      [["query", ...cells(query)], ...each((s) => cells(keys[s]))]),
    numbers("2. From products to weights",
      ["", "q · k", `÷ √${query.length}`, "softmax"],
      each((s) => [digits(products[s]), score(scores[s]), bar(weights[s])])),
    numbers("3. The values, and their sum by these weights",
      ["", "weight", ["values", N]],
      [...each((s) => [bar(weights[s]), ...cells(values[s])]),
        ["sum", "", ...cells(sum)]]))];
}

export function fed(where, { hidden, y, result }) {
  const above = hidden.filter((x) => x > 0).length;
  const told = html("p.note", `${where} After the ReLU, ${above} of ` +
    `${hidden.length} numbers are above zero.`);
  return [told, numbers(`The first ${N} numbers of each vector`, VECTORS, [
    ["after the ReLU", ...cells(hidden)], ["after both layers", ...cells(y)],
    ["what comes out", ...cells(result)]])];
}

export const remembered = (source, rows) => [numbers(
  `One vector for each subword: ${firstOf(rows[0])}`, VECTORS,
  rows.map((row, s) => [subword(source[s]), ...cells(row)]))];

/** The most likely words; `taken` is the id of the one that was written. */
export function likely(best, taken) {
  const made = numbers("The eight most likely words", ["word", "logit", "probability"],
    best.map(({ token, logit, p }) => [subword(token), digits(logit), bar(p)]));
  const at = best.findIndex(({ id }) => id === taken);
  made.querySelectorAll("tbody tr")[at]?.classList.add("taken");
  return [made];
}
