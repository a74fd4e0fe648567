// Byte-pair encoding: boxes of letters that grow together, merge by merge.

import { html, player, slider } from "../kit.js";

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

export function draw({ add, tell }, { text, n_merges }, { merges }) {
  const input = html("input", {
    value: text, maxlength: 120, spellcheck: "false", autocomplete: "off",
  });
  const boxes = html("div", { class: "boxes", "aria-hidden": "true" }); // told below
  const count = slider({
    label: "merges", values: Array.from({ length: merges.length + 1 }, (_, n) => n),
    value: n_merges, onInput: show,
  });
  const go = player({ label: "Merge on", gap: 150, onTick: () => {
    if (count.value === merges.length) return false;
    count.set(count.value + 1);
    show();
  } });
  input.addEventListener("input", show);

  function show() {
    const n = count.value, words = input.value.split(/\s+/).filter(Boolean);
    const newest = n ? merges[n - 1] : ["", ""];
    const found = words.map((word) => cut(word, merges.slice(0, n)));
    boxes.replaceChildren(...found.map((subwords) => html("span", { class: "word" },
      ...subwords.map((one) => html("span",
        { class: one === newest.join("") ? "box mark" : "box" }, one)))));
    const subwords = found.flat();
    const last = n ? `Merge ${n} joined ${newest[0]} and ${newest[1]}` : "No merge yet";
    const says = `${last}: ${subwords.length} subwords for ${words.length} words.`;
    tell(says, `${says} ${subwords.join(" ")}`);
  }
  add(html("label", { class: "field" }, "A text of your own", input), boxes,
    html("div", { class: "controls" }, count.element, go.element));
  show();
}
