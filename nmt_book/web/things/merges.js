// Byte-pair encoding: boxes of letters that grow together, merge by merge.

import { field, html, panel, player, range, slider } from "../kit.js";

/** Joins every two neighbours that are the pair, from left to right. */
export function merge(subwords, [first, second]) {
  const merged = [];
  for (let i = 0; i < subwords.length; i++) {
    const both = subwords[i] === first && subwords[i + 1] === second;
    merged.push(both ? first + second : subwords[i]);
    if (both) i++;
  }
  return merged;
}

/** The subwords of a word: its characters, and the merges in their order. */
export const cut = (word, merges) => merges.reduce(merge, [...`▁${word}`]);

export function draw({ add, tell }, state, { merges }) {
  const text = field("A text of your own", 120);
  const boxes = html("div.boxes", { "aria-hidden": "true" }); // told below
  const count = slider({ label: "merges", values: range(0, merges.length) });
  const go = player({ label: "Merge on", gap: 150, onTick: count.next });
  const controls = panel({ n_merges: count }, state, go);
  text.set(state.text);

  function show() {
    const n = count.value, words = text.value.split(/\s+/).filter(Boolean);
    const [first, second] = merges[n - 1] ?? ["", ""];
    const found = words.map((word) => cut(word, merges.slice(0, n)));
    const box = (one) =>
      html("span", { class: one === first + second ? "box mark" : "box" }, one);
    boxes.replaceChildren(...found.map((subwords) =>
      html("span.word", ...subwords.map(box))));
    const subwords = found.flat();
    const last = n ? `Merge ${n} joined ${first} and ${second}` : "No merge yet";
    const says = `${last}: ${subwords.length} subwords for ${words.length} words.`;
    tell(says, `${says} ${subwords.join(" ")}`);
  }
  add(text, boxes, controls);
  return show;
}
