// What a training costs: chapter 12's formulas, for a model with one vocabulary whose
// source and target sentences have T tokens each. d_ff is 4 d_model, a head has 64.

import { choice, panel, range, slider, sum } from "../kit.js";
import { bars } from "../pictures.js";

// Operations per second, the share of them that a step reaches from width 512 on, and
// the power of the width with which it falls below: benchmarks/results, 512 to 128.
const MACHINES = {
  gpu: { fp32: [19.5e12, 0.29, 0.37], bf16: [312e12, 0.29, 1.77] }, // A100, the paper
  core: { fp32: [0.165e12, 0.73, 0.37], bf16: [1.29e12, 0.19, 0.96] },
};

/** The numbers that are learnt; the three matrices of words are one (section 3.4). */
export function parameters({ d_model: D, n_layers: N, V }) {
  const attention = 4 * (D * D + D), feedForward = 2 * D * 4 * D + 5 * D, norm = 2 * D;
  return {
    encoder: N * (attention + feedForward + 2 * norm),
    decoder: N * (2 * attention + feedForward + 3 * norm),
    words: V * D + V, // (V, D) and the biases of the output layer
  };
}

/** Operations of an update: 6 for each weight and position, 12 B T² d an attention. */
export function operations({ d_model: D, n_layers: N, V, B, T }) {
  const pairs = 12 * B * T * T * D;
  return {
    encoder: N * (6 * 12 * D * D * B * T + pairs),
    decoder: N * (6 * 16 * D * D * B * T + 2 * pairs),
    "output layer": 6 * V * D * B * T,
  };
}

/** Bytes: of weights, their gradients and Adam's means; and what an update of nmt_lib
 * keeps for its backward pass on a CPU. bf16 halves products, not norms and sums. */
export function memory({ precision, ...state }) {
  const { d_model: D, n_layers: N, V, B, T } = state, H = Math.max(1, D / 64);
  const half = precision === "bf16";
  const position = half // bytes of a layer on each side, for each position
    ? 76 * D + 4 * 4 * D + 12 * H + 44 + 2 * T
    : 108 * D + 8 * 4 * D + 12 * H + 48 + 4 * T;
  const ends = (half ? 12 : 16) * D + 17, copies = half ? N * 56 * D * D : 0;
  return {
    "weights and Adam": 16 * total(parameters(state)),
    "kept for backward":
      B * T * (N * position + ends) + copies + 4 * V * (D + 1),
  };
}

/** Hours until so many target tokens are read. */
export function hours({ tokens, machine, precision, ...state }) {
  const [peak, share, power] = MACHINES[machine][precision];
  const mfu = share * Math.min(1, state.d_model / 512) ** power;
  const each = total(operations(state)) / (state.B * state.T);
  return each * tokens / (3600 * mfu * peak);
}

const total = (parts) => sum(Object.values(parts));

export function power(number) { // 25000 → 2.5·10⁴
  const [digits, exponent] = number.toExponential(1).split("e+");
  return `${digits}·10${exponent.replace(/\d/g, (one) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[one])}`;
}
export function short(number) {
  const units = [["trillion", 1e12], ["billion", 1e9], ["million", 1e6]];
  const [name, size] = units.find(([, least]) => number >= least) ?? ["", 1];
  return `${(number / size).toLocaleString("en", { maximumFractionDigits: 1 })} ${name}`
    .trim();
}
export function bytes(number) {
  const unit = Math.min(4, Math.floor(Math.log10(number) / 3));
  return `${(number / 1000 ** unit).toFixed(1)} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
}
export function time(inHours) {
  const units = [["years", 24 * 365], ["days", 24], ["hours", 1], ["minutes", 1 / 60]];
  const found = units.find(([, size]) => inHours >= 2 * size) ?? ["seconds", 1 / 3600];
  return `${short(inHours / found[1])} ${found[0]}`;
}

const LABELS = {
  d_model: "width d_model", n_layers: "layers on each side N", V: "subwords V",
  B: "sentences in a batch", T: "tokens in a sentence",
  tokens: "target tokens to read",
};
const NAMES = { gpu: "large GPU", core: "one core" };

export function draw({ add, tell }, state, { choices }) {
  const sliders = Object.fromEntries(Object.entries(LABELS).map(([name, label]) =>
    [name, slider({ label, values: choices[name], format: short })]));
  const precision = choice({ label: "precision", values: ["fp32", "bf16"] });
  const machine = choice({ label: "machine", texts: NAMES });
  const controls = panel({ ...sliders, precision, machine }, state);
  const pictures = range(1, 3).map(() => bars({ label: "" }));

  function show() {
    const asked = controls.values, updates = asked.tokens / (asked.B * asked.T);
    const learnt = parameters(asked), work = operations(asked), held = memory(asked);
    [
      [learnt, short, "parameters"], [work, power, "operations in an update"],
      [held, bytes, "of memory"],
    ].forEach(([parts, format, what], i) => {
      const all = total(parts), lines = Object.entries(parts).map(([name, part]) =>
        ({ name, share: part / all, text: format(part) }));
      pictures[i].draw(lines, `${format(all)} ${what}`);
    });
    tell(`${short(Math.ceil(updates))} updates: ${time(hours(asked))}. An update ` +
      `needs ${bytes(total(held))} and ${power(total(work))} operations.`);
  }
  add(...pictures, controls);
  return show;
}
