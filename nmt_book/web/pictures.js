// Pictures that change: lines over steps, a map of weights, cells to press, and bars.

import { button, html, onArrows, reach, say, svg } from "./kit.js";

export const textAt = ([x, y], text, anchor = "middle") =>
  svg("text", { x, y, "text-anchor": anchor }, text);

/** Lines over steps. `draw({lines, rules, end, top})`: `lines` are {points, name}, each
 * point [x, y]; `rules` are heights with a text; x ends at `end`, y at `top`;
 * `mark` writes at a height. */
export function chart({ label, x, y, mark = String, width = 560, height = 240 }) {
  const left = 6 + 7 * Math.max(4, mark(0).length), right = width - 8;
  const high = 10, low = height - 30;
  const body = svg("g");
  const picture = { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart" };
  const element = svg("svg", { ...picture, "aria-label": label }, body);

  function draw({ lines, rules = [], end, top, summary }) {
    const atX = (value) => left + (right - left) * value / end;
    const atY = (value) => low - (low - high) * Math.min(value, top) / top;
    const path = (points) => points.map(([px, py], i) =>
      `${i ? "L" : "M"}${atX(px).toFixed(1)} ${atY(py).toFixed(1)}`).join("");
    const marks = Array.from({ length: top + 1 }, (_, value) => [
      svg("path.line", { d: `M${left} ${atY(value)}H${right}` }),
      textAt([left - 6, atY(value) + 4], mark(value), "end"),
    ]).flat();
    const ends = [0, 1 / 3, 2 / 3, 1].map((part) => Math.round(end * part));
    const anchors = ["start", "middle", "middle", "end"];
    const steps = ends.map((value, i) =>
      textAt([atX(value), low + 16], `${value}`, anchors[i]));
    const drawn = lines.map(({ points, name }) =>
      svg("path", { class: `curve ${name}`, d: path(points) }));
    const across = rules.map(([value, says]) => svg("g.rule",
      svg("path", { d: `M${left} ${atY(value)}H${right}` }),
      textAt([right, atY(value) - 5], says, "end")));
    const names =
      [textAt([left + 4, high + 10], y, "start"), textAt([right, low + 28], x, "end")];
    body.replaceChildren(...marks, ...steps, ...names, ...across, ...drawn);
    if (summary) element.setAttribute("aria-label", `${label}: ${summary}`);
  }
  return { element, draw };
}

/** A map of weights: what is in a row looks at the columns. `draw({rows, columns,
 * weights, gold})`: weights [row][column] from 0 to 1, gold a set of "row,column". For
 * other maps than of attention, `says` is what to say of two words, and of the most. */
export function grid({ label, says: [says, most] = ["looks at", "looks most at"] }) {
  const table = html("table", { "aria-hidden": "true" });
  const spoken = html("p.unseen"); // the same for a screen reader
  const caption = html("figcaption", label);
  const element = html("figure.grid", caption, table, spoken);

  function draw({ rows, columns, weights, gold = new Set() }) {
    const head = html("tr", html("td"), ...columns.map((word) =>
      html("th", html("span", word))));
    const cell = (row, column) => {
      const weight = weights[row][column].toFixed(2);
      return html("td", {
        class: gold.has(`${row},${column}`) ? "gold" : null,
        title: `${rows[row]} ${says} ${columns[column]}: ${weight}`,
      }, html("i", { style: `opacity: ${weight}` }));
    };
    table.replaceChildren(head, ...rows.map((word, row) => html("tr",
      html("th", word), ...columns.map((_, column) => cell(row, column)))));
    if (most) say(spoken, weights.map((row, i) => {
      const best = Math.max(...row);
      return `${rows[i]} ${most} ${columns[row.indexOf(best)]}, ${best.toFixed(1)}`;
    }).join("; "));
  }
  return { element, draw };
}

/** A table of cells to press; arrows move among them. `draw({columns, rows})`: a row is
 * {name, cells, end}, a cell {text, weight, says, pressed, mark}. A weight from 0 to 1
 * shades it, `says` is for a screen reader, `pressed` makes it a switch. `end`,
 * behind the row, has [text, share]. `onPress(row, column)` hears what was pressed.
 * Its size stays; only what has changed is drawn again. */
export function board({ label, corner, onPress }) {
  const table = html("table");
  const element = html("div.board", { role: "group", "aria-label": label },
    table);
  let heads, names, cells, ends; // elements: of columns, and of each row
  onArrows(element, () => cells);

  function lay(rows, columns) {
    const th = (scope) => html("th", { scope });
    heads = columns.map(() => th("col"));
    names = rows.map(() => th("row"));
    cells = rows.map((row, y) => row.cells.map((_, x) => button("", () => {
      reach(cells.flat(), cells[y][x]);
      onPress(y, x);
    }, { class: "cell", tabindex: x + y ? -1 : 0 })));
    ends = rows.map(({ end = [] }) => end.map(() => html("td.end")));
    const lines = names.map((name, y) => html("tr", name,
      ...cells[y].map((cell) => html("td", cell)), ...ends[y]));
    const head = html("tr", html("td", corner), ...heads);
    table.append(html("thead", head), html("tbody", ...lines));
  }
  function draw({ columns, rows, chosen = -1 }) {
    if (!heads) lay(rows, columns);
    columns.forEach((name, x) => say(heads[x], name));
    rows.forEach((row, y) => {
      say(names[y], row.name);
      names[y].parentElement.classList.toggle("chosen", y === chosen);
      row.cells.forEach(({ text, weight, says, pressed, mark }, x) => {
        const cell = cells[y][x];
        say(cell, text);
        cell.style.setProperty("--w", weight.toFixed(3));
        cell.classList.toggle("mark", Boolean(mark));
        cell.setAttribute("aria-label", says);
        if (pressed !== undefined) cell.setAttribute("aria-pressed", pressed);
      });
      row.end?.forEach(([text, share = 0], i) => {
        say(ends[y][i], text);
        ends[y][i].style.setProperty("--w", share.toFixed(3));
      });
    });
  }
  return { element, draw };
}

/** Names with bars and numbers. `draw` takes {name, share, text} for each, with a share
 * from 0 to 1, and another label if there is one. */
export function bars({ label }) {
  const table = html("table");
  const caption = html("figcaption", label);
  const element = html("figure.bars", caption, table);
  function draw(all, title = label) {
    say(caption, title);
    table.replaceChildren(...all.map(({ name, share, text }) => {
      const width = `width: ${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`;
      return html("tr", html("th", { scope: "row" }, name),
        html("td.bar", html("i", { style: width })),
        html("td", text));
    }));
  }
  return { element, draw };
}

/** A ring with two hands of some classes. `show({tips, text, aloud, between})`: `tips`
 * are "x y" of each, at most 50 from the centre, `between` is a path between them,
 * `text` stands under the ring, and `aloud` is for a screen reader. */
export function dial(name, thin = "hand", thick = "hand other") {
  const [wedge, other, hand] = ["arc", thick, thin].map((kind) =>
    svg("path", { class: kind }));
  const ring = svg("circle.ring", { r: 56 }), says = html("b");
  const picture = svg("svg", { viewBox: "-60 -60 120 120", role: "img" },
    ring, wedge, other, hand);
  const caption = html("figcaption", `${name} `, says);
  function show({ tips, text, aloud, between = "" }) {
    [hand, other].forEach((one, i) => one.setAttribute("d", `M0 0L${tips[i]}`));
    wedge.setAttribute("d", between);
    say(says, text);
    picture.setAttribute("aria-label", `${name}: ${aloud}`);
  }
  const element = html("figure.face", picture, caption);
  return { element, picture, show };
}
