// The clock of positions (paper, section 3.5): a hand for each sine and cosine.

import {
  choice, drag, html, panel, player, range, signed, slider, sum,
} from "../kit.js";
import { dial } from "../pictures.js";

/** How far each hand turns from one position to the next: ω_i = base^(−2i / D). */
const rates = (base, d_model) =>
  range(0, d_model / 2 - 1).map((i) => base ** (-2 * i / d_model)); // (D/2,)

/** PE of a position: the sine and the cosine of each hand's angle. */
export const encoding = ({ position, base, d_model }) =>
  rates(base, d_model).flatMap((rate) => // (D,)
    [Math.sin(position * rate), Math.cos(position * rate)]);

/** PE_p · PE_(p+k) = Σ cos(ω_i k): it depends on the distance k alone. */
export const product = ({ distance, base, d_model }) =>
  sum(rates(base, d_model).map((rate) => Math.cos(distance * rate)));

const LAST = 300; // position
const degrees = (angle) => {
  const turned = angle * 180 / Math.PI;
  return `${turned.toFixed(turned < 10 ? 1 : 0)}°`;
};
const tip = (angle, length = 50) => // twelve is 0, and it turns clockwise
  `${length * Math.sin(angle)} ${-length * Math.cos(angle)}`;

function wedge(before, after) {
  const apart = after - before, large = apart % (2 * Math.PI) > Math.PI ? 1 : 0;
  return apart < 0.001 ? ""
    : `M0 0L${tip(before, 26)}A26 26 0 ${large} 1 ${tip(after, 26)}Z`;
}

/** What turning a clock from one place to another means, the shorter way round. */
function turned(before, now) {
  const angle = ({ x, y }) => Math.atan2(x - 0.5, 0.5 - y);
  const turn = angle(now) - angle(before);
  return Math.atan2(Math.sin(turn), Math.cos(turn));
}

export function draw({ add, tell }, { d_model, ...state }) {
  const position = slider({ label: "position", values: range(0, LAST) });
  const distance = slider({ label: "positions between the two", values: range(0, 20) });
  const base = choice({ label: "base", values: [10, 100, 10000] });
  const go = player({ label: "Let it run", onTick: position.next });
  const controls = panel({ position, distance, base }, state, go);
  const hands = range(0, d_model / 2 - 1), faces = hands.map((i) => dial(`hand ${i}`));
  let exact = state.position; // a hand may be dragged by less than a position
  for (const i of hands) drag(faces[i].picture, (now, before) => {
    exact += turned(before, now) / rates(base.value, d_model)[i];
    exact = Math.min(LAST, Math.max(0, exact));
    position.set(Math.round(exact));
    show();
  });

  function show() {
    const asked = { d_model, ...controls.values };
    const at = asked.position, dot = product(asked);
    if (Math.round(exact) !== at) exact = at;
    rates(asked.base, d_model).forEach((rate, i) => {
      const before = at * rate, after = (at + asked.distance) * rate;
      faces[i].show({
        tips: [tip(before), tip(after)], between: wedge(before, after),
        text: `${degrees(after - before)} apart`,
        aloud: `at ${degrees(before)} and ${degrees(after)}, clockwise from twelve`,
      });
    });
    const [sine, cosine] = encoding(asked).map(signed);
    tell(`Positions ${at} (thin) and ${at + asked.distance} (thick). Of ` +
      `position ${at}, hand 0 says sine ${sine} and cosine ${cosine}. The dot ` +
      `product of the two positions is ${signed(dot)}.`);
  }
  add(html("div.faces", ...faces), controls);
  return show;
}
