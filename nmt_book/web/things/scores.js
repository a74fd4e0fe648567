// Q Kᵀ in two dimensions (paper, equation 1): drag a query among the keys.

import { drag, html, panel, range, slider, softmax, sum, svg } from "../kit.js";
import { bars, board, textAt } from "../pictures.js";

const dot = (a, b) => sum(a.map((one, i) => one * b[i]));

/** softmax(factor · QKᵀ) V, for Q (T, d_k), K (S, d_k), V (S, d_v). */
export function attend(Q, K, V, factor) {
  const dots = Q.map((q) => K.map((k) => dot(q, k))); // (T, S)
  const weights = dots.map((row) => softmax(row.map((one) => factor * one))); // (T, S)
  const columns = V[0].map((_, j) => V.map((row) => row[j])); // (d_v, S)
  const output = weights.map((row) => columns.map((one) => dot(row, one))); // (T, d_v)
  return { dots, weights, output };
}

const FAR = 3, SIZE = 240; // the plane goes from −3 to 3
const ROOT = 1 / Math.sqrt(2); // 1 / √d_k
const FACTORS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, ROOT, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10];
const COORDINATES = range(-10 * FAR, 10 * FAR).map((one) => one / 10);
const within = (value) => Math.round(10 * Math.min(FAR, Math.max(-FAR, value))) / 10;

/** Keys as dots, and the query as an arrow; `onMove` gets where it is dragged to. */
function plane(words, K, features, onMove) {
  const half = SIZE / 2, scale = 2 * FAR + 1;
  const at = ([x, y]) => [x, -y].map((one) => half + one * SIZE / scale);
  const keys = K.map((key, s) => {
    const [cx, cy] = at(key);
    const mark = svg("circle.key", { cx, cy, r: 6 });
    return [mark, textAt([cx, cy - 9], words[s])];
  });
  const arrow = svg("path.hand");
  const tip = svg("circle", { r: 8, fill: "var(--right)" });
  const picture = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img",
    class: "plane" },
  svg("path.axis", { d: `M0 ${half}H${SIZE}M${half} 0V${SIZE}` }),
  textAt([SIZE - 2, half + 14], features[0], "end"),
  textAt([half + 4, 10], features[1], "start"), arrow, tip, ...keys.flat());
  drag(picture, ({ x, y }) =>
    onMove([(x - 0.5) * scale, (0.5 - y) * scale].map(within)));
  function show(query, name) {
    const [x, y] = at(query);
    arrow.setAttribute("d", `M${half} ${half}L${x} ${y}`);
    tip.setAttribute("cx", x);
    tip.setAttribute("cy", y);
    picture.setAttribute("aria-label", `the query of ${name} at ${query.join(", ")}; ` +
      K.map((key, s) => `the key of ${words[s]} at ${key.join(", ")}`).join("; "));
  }
  return { element: picture, show };
}

export function draw({ add, tell }, state) {
  const { words, K, V, features, values } = state;
  const Q = state.Q.map((row) => [...row]);
  let chosen = state.row;
  const picture = plane(words, K, features, (query) => {
    Q[chosen] = query;
    follow(chosen);
  });
  const sliders = features.map((name, j) => {
    const made = slider({ label: `${name} in the query`, values: COORDINATES });
    made.element.oninput = () => { Q[chosen][j] = made.value; };
    return made;
  });
  const factor = slider({
    label: "factor", values: FACTORS, mark: ROOT,
    format: (value) => (value === ROOT ? "1/√dₖ = 0.71" : `${value}`),
  });
  const steps = bars({ label: "dot product, then score, then weight of each key" });
  const table = board({
    label: "weights: a row is a query, a column a key", corner: "weights",
    onPress: follow,
  });

  function follow(t) {
    chosen = t;
    aim();
    show();
  }
  const aim = () => sliders.forEach((one, j) => one.set(within(Q[chosen][j])));
  function show() {
    const by = factor.value, { dots, weights, output } = attend(Q, K, V, by);
    const text = (number) => number.toFixed(2), row = weights[chosen];
    picture.show(Q[chosen], words[chosen]);
    steps.draw(words.map((name, s) => {
      const dot = dots[chosen][s], share = row[s];
      return { name, share, text: [dot, by * dot, share].map(text).join(" → ") };
    }));
    const rows = words.map((name, t) => ({
      name,
      cells: weights[t].map((weight, s) => ({
        text: text(weight), weight,
        says: `${name} gives ${words[s]} the weight ${text(weight)}`,
      })),
      end: output[t].map((one) => [text(one)]),
    }));
    table.draw({ columns: [...words, ...values], rows, chosen });
    const most = row.indexOf(Math.max(...row));
    const found = output[chosen].map((one, j) => `${values[j]} ${text(one)}`);
    tell(`The query of ${words[chosen]} fits ${words[most]} best, with the weight ` +
      `${text(row[most])}; its output is ${found.join(", ")}.`);
  }
  add(html("div.beside", picture, steps),
    panel({ factor }, { factor: ROOT }, ...sliders), table);
  aim();
  return show;
}
