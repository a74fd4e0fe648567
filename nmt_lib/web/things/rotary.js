// Pairs that turn: rotary positions (Su et al., 2021).

import { html, player, say, slider, svg } from "../kit.js";

/** The angles of position t, one for each pair: t · 10000^(−2i / d). */
export const angles = (t, d) =>
  Array.from({ length: d / 2 }, (_, i) => t * 10000 ** (-2 * i / d)); // (d/2,)

/** x (d,) at position t: each pair (x_2i, x_2i+1) turned by its own angle. */
export function rotate(x, t) {
  return angles(t, x.length).flatMap((theta, i) => {
    const a = x[2 * i], b = x[2 * i + 1], cos = Math.cos(theta), sin = Math.sin(theta);
    return [a * cos - b * sin, a * sin + b * cos];
  });
}

/** What each pair adds to q · k, the query being at position t and the key at s. */
export function products(query, key, t, s) {
  const q = rotate(query, t), k = rotate(key, s);
  return angles(0, q.length).map((_, i) =>
    q[2 * i] * k[2 * i] + q[2 * i + 1] * k[2 * i + 1]); // (d/2,)
}

const LAST = 100, FARTHEST = 20, RADIUS = 50;

function dial(i) {
  const hands = ["hand", "hand other"].map((kind) => svg("path", { class: kind }));
  const ring = svg("circle", { class: "ring", r: RADIUS + 6 }), name = html("b", {});
  const box = `${-RADIUS - 10} ${-RADIUS - 10} ${2 * RADIUS + 20} ${2 * RADIUS + 20}`;
  const picture = svg("svg", { viewBox: box, role: "img" }, ring, ...hands);
  const caption = html("figcaption", {}, `pair ${i}: `, name);
  function show(query, key, product) { // (2,) each; up is up
    [query, key].forEach(([a, b], one) => hands[one].setAttribute("d",
      `M0 0L${(RADIUS * a).toFixed(1)} ${(-RADIUS * b).toFixed(1)}`));
    say(name, product.toFixed(2));
    const [q, k] = [query, key].map((pair) =>
      pair.map((one) => one.toFixed(1)).join(" and "));
    picture.setAttribute("aria-label", `pair ${i}: query ${q}, key ${k}`);
  }
  return { element: html("figure", { class: "face" }, picture, caption), show };
}

export function draw({ add, tell }, state, { query, key }) {
  const numbers = (last) => Array.from({ length: last + 1 }, (_, i) => i);
  const at = slider({
    label: "position of the key s", values: numbers(LAST), value: state.position,
    onInput: show,
  });
  const apart = slider({
    label: "distance t − s", values: numbers(FARTHEST), value: state.distance,
    onInput: show,
  });
  const go = player({ label: "Move both along", onTick: () => {
    if (at.value === LAST) return false;
    at.set(at.value + 1);
    show();
  } });
  const dials = angles(0, query.length).map((_, i) => dial(i));

  function show() {
    const s = at.value, t = s + apart.value, all = products(query, key, t, s);
    const q = rotate(query, t), k = rotate(key, s), pair = (x, i) =>
      x.slice(2 * i, 2 * i + 2);
    dials.forEach((one, i) => one.show(pair(q, i), pair(k, i), all[i]));
    const score = all.reduce((a, b) => a + b, 0);
    const terms = all.map((one) => one.toFixed(2)).join(" + ").replaceAll("+ -", "− ");
    tell(`The query (blue) is at position ${t}, the key (gold) at ${s}. The score ` +
      `${terms.replace("-", "−")} is ` +
      `${score.toFixed(2)}, wherever the two are at distance ${t - s}.`);
  }
  add(html("div", { class: "faces" }, ...dials.map(({ element }) => element)),
    html("div", { class: "controls" }, at.element, apart.element, go.element));
  show();
}
