// The prefix test, word by word, on what prefix.py has asked a model beforehand.

import { panel, player, toggle } from "../kit.js";
import { board } from "../pictures.js";

/** The largest change of a logit at each position (T, columns): column j holds it for
 * the other word number tried[j] in its place, and null where nothing is tried yet. */
export const staircase = ({ columns }, tried, causal) =>
  columns[0].changes[0][0].map((_, t) => columns.map(({ changes }, j) =>
    (tried[j] == null ? null : changes[tried[j]][causal ? 0 : 1][t])));

export function draw({ add, tell }, state, given) {
  const { words, columns } = given;
  const tried = columns.map(() => null); // which other word, for each column
  const most = Math.max(...columns.flatMap(({ changes }) => changes.flat(2)));
  const causal = toggle("causal mask");
  const table = board({
    label: "row: the position of a logit, column: the changed word",
    corner: "position", onPress: (_, column) => change(column),
  });
  const go = player({ label: "Change each word in turn", gap: 700, onTick: () => {
    const next = tried.indexOf(null);
    if (next < 0) return false;
    change(next);
  } });
  let j = -1; // the column that was pressed last

  function change(column) {
    j = column;
    tried[j] = tried[j] === null ? 0 : (tried[j] + 1) % columns[j].others.length;
    show();
  }
  function show() {
    const cells = staircase(given, tried, causal.value);
    const now = columns.map(({ word, others }, i) => others[tried[i]] ?? word);
    const rows = words.map((name, t) => ({
      name: `${t}: ${name}`,
      cells: cells[t].map((one, i) => ({
        text: one === null ? "" : one.toFixed(1), weight: (one ?? 0) / most,
        mark: i === j && one > 0.01,
        says: one === null ? `change ${words[i + 1]}` : `${now[i]} for ` +
          `${words[i + 1]} moves the logits at ${t} by ${one.toFixed(1)}`,
      })),
    }));
    table.draw({ columns: now, rows });
    if (j < 0) return tell("Nothing is changed yet. Press a cell.");
    const moved = words.map((_, t) => t).filter((t) => cells[t][j] > 0.01);
    const early = moved.filter((t) => t <= j);
    tell(`At position ${j + 1}, “${columns[j].word}” becomes “${now[j]}”: ` +
      `logits move at ${moved.join(", ")}. ` + (early.length
      ? "Earlier positions have seen the change: the test fails."
      : "No earlier position has seen the change: the test holds."));
  }
  add(table, panel({ causal }, state, go));
  return show;
}
