// A mask to press (paper, section 3.2.3), and what letting in the future does.

import { button, html, range, softmax, sum } from "../kit.js";
import { board } from "../pictures.js";

// The scores of an attention that has learnt to look at the next word. <sos>, which
// says nothing, gets what is left; every other word votes for itself.
const NEXT = 3, SOS = 0, OTHER = -2, VOTE = 6;

/** The causal mask: query t sees the keys s ≤ t. */
export const causal = (T) =>
  range(0, T - 1).map((t) => range(0, T - 1).map((s) => s <= t));

/** The weights (T, T), and for each query the probability of the word that it must
 * say, (T,). `words` are `<sos>` and the sentence; the last one must say `<eos>`. */
export function attend(words, mask) {
  const names = [...new Set([...words.slice(1), "<eos>"])]; // (V,)
  const score = (t, s) => (s === t + 1 ? NEXT : s === 0 ? SOS : OTHER);
  const weights = mask.map((row, t) => // (T, T)
    softmax(row.map((seen, s) => (seen ? score(t, s) : -Infinity))));
  const probabilities = weights.map((row, t) => {
    const logits = names.map((name) => VOTE * // (V,)
      sum(row.filter((_, s) => s && words[s] === name)));
    return softmax(logits)[names.indexOf(words[t + 1] ?? "<eos>")];
  });
  return { weights, probabilities };
}

export function draw({ add, tell }, { words: sentence, causal: start }) {
  const words = ["<sos>", ...sentence], T = words.length;
  const whole = causal(T).map((row) => row.map(() => true));
  let mask = start ? causal(T) : whole;
  const answer = (t) => words[t + 1] ?? "<eos>";
  const says = (t) => `${words[t]}, which must say ${answer(t)},`;
  const table = board({
    label: "the mask: a row is a query, a column a key", corner: "reads",
    onPress(t, s) {
      mask = mask.map((row, y) => row.map((on, x) => ((y === t && x === s) !== on)));
      show(t);
    },
  });
  const all = (text, made) => button(text, () => {
    mask = made;
    show();
  });

  function show(chosen = -1) {
    const { weights, probabilities } = attend(words, mask);
    const rows = words.map((name, t) => ({
      name,
      cells: words.map((key, s) => ({
        text: mask[t][s] ? weights[t][s].toFixed(2) : "",
        weight: weights[t][s],
        mark: s === t + 1,
        pressed: mask[t][s],
        says: `${says(t)} looks at ${key}: weight ${weights[t][s].toFixed(2)}`,
      })),
      end: [[answer(t)], [probabilities[t].toFixed(2), probabilities[t]]],
    }));
    table.draw({ columns: [...words, "must say", "probability"], rows, chosen });
    const mean = sum(probabilities) / T;
    const seen = words.filter((_, s) => mask[chosen]?.[s]);
    const row = chosen < 0 ? "" : `${says(chosen)} may look at ` +
      `${seen.join(", ") || "nothing"}. The probability of ${answer(chosen)} is ` +
      `${probabilities[chosen].toFixed(2)}. `;
    tell(`${row}The words that must be said have a mean probability of ` +
      `${mean.toFixed(2)}.`);
  }
  add(table, html("div.row",
    all("The causal mask", causal(T)), all("Let in the whole future", whole)));
  return show;
}
