// Pairs that turn: rotary positions (Su et al., 2021).

import { html, panel, player, range, signed, slider, sum } from "../kit.js";
import { dial } from "../pictures.js";

/** The angles of position t, one for each pair: t · 10000^(−2i / d). */
const angles = (t, d) =>
  range(0, d / 2 - 1).map((i) => t * 10000 ** (-2 * i / d)); // (d/2,)

/** x (d,) at position t: each pair (x_2i, x_2i+1) turned by its own angle. */
function rotate(x, t) {
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

const LAST = 100, FARTHEST = 20;

export function draw({ add, tell }, state, { query, key }) {
  const position = slider({ label: "position of the key s", values: range(0, LAST) });
  const distance = slider({ label: "distance t − s", values: range(0, FARTHEST) });
  const go = player({ label: "Move both along", onTick: position.next });
  const controls = panel({ position, distance }, state, go);
  const dials = angles(0, query.length).map((_, i) =>
    dial(`pair ${i}:`, "hand query", "hand key"));

  function show() {
    const s = position.value, t = s + distance.value, all = products(query, key, t, s);
    const both = [rotate(query, t), rotate(key, s)];
    dials.forEach((one, i) => {
      const pairs = both.map((x) => x.slice(2 * i, 2 * i + 2)); // up is up
      const [q, k] = pairs.map((pair) => pair.map((x) => x.toFixed(1)).join(" and "));
      const tips = pairs.map(([a, b]) => `${50 * a} ${-50 * b}`);
      one.show({ tips, text: signed(all[i]), aloud: `query ${q}, key ${k}` });
    });
    const terms = all.map(signed).join(" + ").replaceAll("+ −", "− ");
    tell(`The query (thin) is at position ${t}, the key (thick) at ${s}. The score ` +
      `${terms} is ${signed(sum(all))}, wherever the two are at distance ${t - s}.`);
  }
  add(html("div.faces", ...dials), controls);
  return show;
}
