// BLEU of one sentence, as sacreBLEU counts it: nrefs:1|case:mixed|tok:13a|smooth:exp.

import { button, field, html, range } from "../kit.js";
import { bars } from "../pictures.js";

const LENGTHS = range(1, 4), NAMES = ["words", "pairs", "triples", "four words"];
const CUTS = [ // of sacreBLEU's tokenizer 13a, in its order; a text is one line
  [/<skipped>/g, ""],
  [/&quot;/g, '"'], [/&amp;/g, "&"], [/&lt;/g, "<"], [/&gt;/g, ">"],
  [/^|$/g, " "],
  [/([{-~[-` -&(-+:-@/])/g, " $1 "], // all signs but ' , - .
  [/([^0-9])([.,])/gu, "$1 $2 "],
  [/([.,])([^0-9])/gu, " $1 $2"],
  [/([0-9])(-)/g, "$1 $2 "],
];

/** A text as words. */
export function cut(text) {
  const spaced = CUTS.reduce((line, [what, by]) => line.replace(what, by), text);
  return spaced.split(/\s+/).filter(Boolean);
}

/** The n-grams of the output: where each starts, and whether the reference has it. */
function ngrams(output, reference, n) {
  const stretches = (words) =>
    words.slice(n - 1).map((_, i) => words.slice(i, i + n).join(" "));
  const left = new Map();
  for (const gram of stretches(reference)) left.set(gram, (left.get(gram) ?? 0) + 1);
  return stretches(output).map((gram, start) => {
    const count = left.get(gram) ?? 0;
    left.set(gram, count - 1); // clipped: what was found is used up
    return { start, gram, found: count > 0 };
  });
}

/** The four precisions, the brevity penalty and the score, from 0 to 100. */
export function bleu(output, reference) {
  const grams = LENGTHS.map((n) => ngrams(output, reference, n));
  const counts = grams.map((all) =>
    [all.filter(({ found }) => found).length, all.length]);
  let little = 1; // where nothing is found: a half of one, then a quarter …
  const precisions = counts.map(([found, all]) => // p_1 … p_4
    (all ? (found || (little /= 2)) / all : 0));
  const c = output.length, r = reference.length;
  const penalty = c ? Math.min(1, Math.exp(1 - r / c)) : 0;
  const any = counts.some(([found]) => found);
  const product = any ? precisions.reduce((a, b) => a * b) : 0;
  return { grams, counts, precisions, penalty, score: 100 * penalty * product ** 0.25 };
}

const shown = ({ gram, found }) => html("span",
  { class: found ? "gram found" : "gram" }, gram, html("span.unseen",
    found ? " found" : " not found"));

export function draw({ add, tell }, state, { ideas }) {
  const output = field("output", 300), reference = field("reference", 300);
  const found = bars({ label: "precision: the share of n-grams that are found" });
  const rows = LENGTHS.map((n) => html("dd", { "aria-label": `${n}-grams` }));
  const list = html("dl.grams",
    ...rows.flatMap((row, i) => [html("dt", NAMES[i]), row]));
  const fill = (text) => {
    output.set(text);
    reference.set(state.reference);
  };
  const examples = Object.entries(ideas).map(([name, text]) => button(name, () => {
    fill(text);
    show();
  }));

  function show() {
    const [mine, theirs] = [output, reference].map(({ value }) => cut(value));
    const { grams, counts, precisions, penalty, score } = bleu(mine, theirs);
    rows.forEach((row, n) => row.replaceChildren(...grams[n].map(shown)));
    found.draw(precisions.map((p, n) =>
      ({ name: `p${n + 1}`, share: p, text: `${counts[n][0]} of ${counts[n][1]}` })));
    const smoothed = counts.some(([hits, all]) => all && !hits) && score
      ? " Where nothing is found, half an n-gram counts or less, so that the product " +
        "is not 0."
      : "";
    tell(`BLEU ${score.toFixed(1)}: the geometric mean of the precisions, ` +
      `${(penalty ? score / penalty : 0).toFixed(1)}, times the brevity penalty, ` +
      `${penalty.toFixed(2)} (${mine.length} words, reference ${theirs.length}).` +
      smoothed);
  }
  add(output, reference, html("div.row", ...examples), list, found);
  fill(state.output);
  return show;
}
