// The clock of positions (paper, section 3.5): a hand for each sine and cosine.

import { choice, drag, html, player, say, slider, svg } from "../kit.js";

/** How far each hand turns from one position to the next: ω_i = base^(−2i / D). */
export const rates = (base, d_model) =>
  Array.from({ length: d_model / 2 }, (_, i) => base ** (-2 * i / d_model)); // (D/2,)

/** PE of a position: the sine and the cosine of each hand's angle. */
export const encoding = ({ position, base, d_model }) =>
  rates(base, d_model).flatMap((rate) => // (D,)
    [Math.sin(position * rate), Math.cos(position * rate)]);

/** What depends on the distance k alone: the angle between, for each hand, and
 * PE_p · PE_(p+k) = Σ cos(ω_i k). */
export function between({ distance, base, d_model }) {
  const angles = rates(base, d_model).map((rate) => distance * rate); // (D/2,)
  return { angles, dot: angles.reduce((sum, angle) => sum + Math.cos(angle), 0) };
}

const LAST = 300; // position
const SIZE = 120, CENTRE = SIZE / 2, RADIUS = 52;
const degrees = (angle) => {
  const turned = angle * 180 / Math.PI;
  return `${turned.toFixed(turned < 10 ? 1 : 0)}°`;
};
const tip = (angle, length) => // twelve is 0, and it turns clockwise
  `${CENTRE + length * Math.sin(angle)} ${CENTRE - length * Math.cos(angle)}`;

/** One hand at two positions: `show(before, after)` takes their angles. */
function face(i, onTurn) {
  const arc = svg("path", { class: "arc" }), name = html("b", {});
  const hand = svg("path", { class: "hand" });
  const other = svg("path", { class: "hand other" });
  const ring = svg("circle", { class: "ring", cx: CENTRE, cy: CENTRE, r: RADIUS + 5 });
  const picture = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img" },
    ring, arc, other, hand);
  const angleOf = ({ x, y }) => Math.atan2(x - 0.5, 0.5 - y);
  drag(picture, (now, before) => { // the shorter way round
    const turn = angleOf(now) - angleOf(before);
    onTurn(Math.atan2(Math.sin(turn), Math.cos(turn)));
  });
  function show(before, after) {
    const apart = after - before, large = apart % (2 * Math.PI) > Math.PI ? 1 : 0;
    const from = tip(before, 26), to = tip(after, 26);
    arc.setAttribute("d", apart < 0.001 ? ""
      : `M${CENTRE} ${CENTRE}L${from}A26 26 0 ${large} 1 ${to}Z`);
    for (const [one, angle] of [[hand, before], [other, after]])
      one.setAttribute("d", `M${CENTRE} ${CENTRE}L${tip(angle, RADIUS)}`);
    say(name, `${degrees(apart)} apart`);
    picture.setAttribute("aria-label", `hand ${i} at ${degrees(before)} and ` +
      `${degrees(after)}, clockwise from twelve`);
  }
  const caption = html("figcaption", {}, `hand ${i} `, name);
  return { element: html("figure", { class: "face" }, picture, caption), show };
}

export function draw({ add, tell }, state) {
  let exact = state.position; // a hand may be dragged by less than a position
  const now = () => ({
    ...state, position: at.value, distance: apart.value, base: base.value,
  });
  const numbers = (last) => Array.from({ length: last + 1 }, (_, i) => i);
  const at = slider({
    label: "position", values: numbers(LAST), value: state.position, onInput: moved,
  });
  const apart = slider({
    label: "positions between the two", values: numbers(20), value: state.distance,
    onInput: show,
  });
  const base = choice({
    label: "base", options: [10, 100, 10000].map((one) => [one, `${one}`]),
    value: state.base, onChange: show,
  });
  const go = player({ label: "Let it run", onTick: () => {
    if (at.value === LAST) return false;
    at.set(at.value + 1);
    moved();
  } });
  const faces = rates(state.base, state.d_model).map((_, i) => face(i, (turn) => {
    const rate = rates(base.value, state.d_model)[i];
    exact = Math.min(LAST, Math.max(0, exact + turn / rate));
    at.set(Math.round(exact));
    show();
  }));

  function moved() {
    exact = at.value;
    show();
  }
  function show() {
    const asked = now(), { position, distance } = asked, { dot } = between(asked);
    rates(asked.base, asked.d_model).forEach((rate, i) =>
      faces[i].show(position * rate, (position + distance) * rate));
    const [sine, cosine] = encoding(asked).map((one) => one.toFixed(2));
    tell(`Positions ${position} (blue) and ${position + distance} (gold). Of ` +
      `position ${position}, hand 0 says sine ${sine} and cosine ${cosine}. The dot ` +
      `product of the two positions is ${dot.toFixed(2)}.`);
  }
  add(html("div", { class: "faces" }, ...faces.map(({ element }) => element)),
    html("div", { class: "controls" }, at.element, apart.element, base.element,
      go.element));
  show();
}
