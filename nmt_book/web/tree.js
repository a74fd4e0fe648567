// The tree of a beam search, a column for each step.

import { signed, svg } from "./kit.js";

export const HIGH = 40; // of a candidate, with its margin
const WIDE = 118, BOX = 96; // of a candidate with its twig, and of its box

/** A step of the tree: candidates {parent, at, fate, total} in boxes whose middles are
 * at the heights `at`, with twigs from their parents, and what `textOf` says of each.
 * Each gets a `mark`, its element. */
export function column(candidates, height, textOf) {
  const left = WIDE - BOX - 1, x = left + BOX / 2;
  const short = (text) => (text.length > 13 ? `${text.slice(0, 12)}…` : text);
  const marks = candidates.map((one) => {
    const { parent, at, fate, total } = one, from = parent?.at;
    const twig = `M0 ${from}C12 ${from} ${left - 12} ${at} ${left} ${at}`;
    one.mark = svg("g", { class: fate },
      svg("path.twig", { d: parent ? twig : "" }),
      svg("rect", { x: left, y: at - 16, width: BOX, height: HIGH - 8, rx: 6 }),
      svg("text", { x, y: at - 3 }, short(textOf(one))),
      svg("text", { x, y: at + 11 }, signed(total)));
    return one.mark;
  });
  const view = { viewBox: `0 0 ${WIDE} ${height}`, width: WIDE, height };
  return svg("svg", view, ...marks);
}
