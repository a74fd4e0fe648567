// What several parts of the live page are made of.

import { html, sum } from "./kit.js";

/** A subword; its mark for "a word begins here" is grey. */
export function subword(token) {
  const marked = token.startsWith("▁") && token.length > 1;
  const inside = marked ? [html("i", "▁"), token.slice(1)] : [token];
  return html("bdi", { class: /^<\w+>$/.test(token) ? "special" : "" }, ...inside);
}

export function percent(p) {
  if (p >= 0.9995) return "1.00";
  return p < 0.0005 ? "<.001" : p.toFixed(p < 0.01 ? 3 : 2);
}

/** The probability of a whole translation. */
export const whole = ({ logProbs }) => Math.exp(sum(logProbs));

/** Fills an element, and keeps the focus on the button that is drawn again. */
export function fill(element, ...inside) {
  const { activeElement } = element.getRootNode();
  const at = element.contains(activeElement) ? activeElement.dataset.id : undefined;
  element.replaceChildren(...inside);
  if (at !== undefined) element.querySelector(`[data-id="${CSS.escape(at)}"]`)?.focus();
}

/** A table of texts and cells; `heads` are texts, or [text, columns that it spans]. */
export function table(heads, rows, kind = "numbers") {
  const head = ([text, colspan]) =>
    (text ? html("th", { scope: "col", colspan }, text) : html("td"));
  const cell = (one) => (one.tagName === "TD" ? one : html("td", one));
  const line = ([first, ...others]) =>
    html("tr", html("th", { scope: "row" }, first), ...others.map(cell));
  return html(`table.${kind}`,
    html("thead", html("tr", ...heads.map((one) => head([one].flat())))),
    html("tbody", ...rows.map(line)));
}

const LANGUAGES = new Map(
  [["en", "English"], ["de", "German"], ["fr", "French"]]);

/** The name of a language in English. The browser knows all of them, but to ask it
 * takes 15 ms the first time. */
export function languageOf(code) {
  try {
    return LANGUAGES.get(code) ??
      new Intl.DisplayNames("en", { type: "language" }).of(code);
  } catch {
    return code;
  }
}
