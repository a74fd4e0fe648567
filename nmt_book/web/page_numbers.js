// The live page: the numbers of one station of the machine, as tables.

import { html } from "./kit.js";
import { percent, subword } from "./page_parts.js";

const N = 8; // numbers of a vector that are shown

const digits = (x) => x.toFixed(2).replace("-", "−").replace("−0.00", "0.00");

/** The first numbers of a vector as coloured cells: blue is positive, gold negative. */
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
  const made = html("td", { class: "weight" }, percent(p));
  made.style.setProperty("--p", p);
  return made;
}

const numeral = (text) => html("td", {}, text);
const titled = (text) => html("th", { scope: "row" }, text);
const plain = (token) => token.replace(/^▁(?=.)/, "");
const named = (token) => titled(subword(token));
const line = (name, vector, ...rest) => html("tr", {}, name, ...cells(vector), ...rest);
const firstOf = ({ length }) => `the first ${Math.min(N, length)} of ${length} numbers`;

/** A table under its title; it scrolls by itself. `heads` are [text, columns]. */
function numbers(label, heads, lines) {
  const head = ([text, colspan]) => (text
    ? html("th", { scope: "col", colspan }, text) : html("td", {}));
  const made = html("table", { class: "look", "aria-label": label },
    html("thead", {}, html("tr", {}, ...heads.map(head))),
    html("tbody", {}, ...lines));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": label };
  return html("div", {}, html("p", {}, label), html("div", region, made));
}

export const subwords = ({ source, sourceIds }) => [numbers(
  `${source.length} subwords, each with its number in the vocabulary`,
  [["subword", 1], ["number", 1]], source.map((token, i) =>
    html("tr", {}, named(token), numeral(`${sourceIds[i]}`))))];

/** A token's vector, and that of its position. */
export function embedded(token, { vector, position, sum, factor }) {
  const times = factor === 1 ? "" : `, times √${vector.length}`;
  return [numbers(`${plain(token)}: ${firstOf(vector)}`, [["", 1], ["", N]], [
    line(titled(`its vector${times}`), vector),
    line(titled("+ its position"), position),
    line(titled("= what is read"), sum)])];
}

/** What the head that `where` names does with the query of a token. */
export function attended(where, token, words, found) {
  const { query, keys, products, scores, weights, values, sum } = found;
  const tokens = words.slice(0, keys.length);
  const score = (x) => numeral(Number.isFinite(x) ? digits(x) : "hidden");
  const told = html("p", { class: "note" },
    `${where} Of each vector, ${firstOf(query)} are shown.`);
  return [told, html("div", { class: "tables" },
    numbers(`1. The query of ${plain(token)}, and the keys`,
      [["", 1], ["query, keys", N]],
      [line(titled("query"), query),
        ...keys.map((key, s) => line(named(tokens[s]), key))]),
    numbers("2. From products to weights",
      [["", 1], ["q · k", 1], [`÷ √${query.length}`, 1], ["softmax", 1]],
      tokens.map((one, s) => html("tr", {}, named(one), numeral(digits(products[s])),
        score(scores[s]), bar(weights[s])))),
    numbers("3. The values, and their sum by these weights",
      [["", 1], ["weight", 1], ["values", N]],
      [...values.map((value, s) =>
        html("tr", {}, named(tokens[s]), bar(weights[s]), ...cells(value))),
      html("tr", {}, titled("sum"), numeral(""), ...cells(sum))]))];
}

export function fed(where, { hidden, y, result }) {
  const above = hidden.filter((x) => x > 0).length;
  const told = html("p", { class: "note" }, `${where} After the ReLU, ${above} of ` +
    `${hidden.length} numbers are above zero.`);
  return [told, numbers(`The first ${N} numbers of each vector`, [["", 1], ["", N]], [
    line(titled("after the ReLU"), hidden), line(titled("after both layers"), y),
    line(titled("what comes out"), result)])];
}

export const remembered = (source, rows) => [numbers(
  `One vector for each subword: ${firstOf(rows[0])}`, [["", 1], ["", N]],
  rows.map((row, s) => line(named(source[s]), row)))];

/** The most likely words; `taken` is the id of the one that was written. */
export const likely = (best, taken) => [numbers("The eight most likely words",
  [["word", 1], ["logit", 1], ["probability", 1]],
  best.map(({ token, logit, p, id }) => html("tr", { class: id === taken && "taken" },
    named(token), numeral(digits(logit)), bar(p))))];
