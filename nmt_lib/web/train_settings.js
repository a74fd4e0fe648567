// What a reader of the training page may change: the controls, and ideas for a start.

import { choice, slider, toggle } from "./kit.js";

const LEARNING_RATES = [0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.02,
  0.03, 0.04, 0.06, 0.1];
const WARMUPS = [0, 10, 25, 50, 75, 100, 150, 200, 300, 400];
const WITHOUT = {
  causalMask: "the causal mask", positions: "the positions", scale: "√d_k",
};
const LARGE = { n_layers: 2, norm: "post", lr: 0.02, schedule: "constant" };

// A title, what it changes, and what to look at.
export const IDEAS = [
  ["The model as it is", {},
    "What does it learn first: where to look, which words to say, or how they agree? " +
    "The loss shows none of this."],
  ["Without warm-up, it is stuck", { ...LARGE, warmup: 0 },
    "Two layers, post-LN and a large learning rate: it learns how frequent each word " +
    "is, and nothing else."],
  ["The same with warm-up", { ...LARGE, warmup: 100 },
    "The first steps are small, and it learns. Compare the curves, then try pre-LN " +
    "without warm-up."],
  ["It may see the future", { causalMask: true },
    "Without the causal mask, the loss is splendid, because the model copies the " +
    "next word from its own input. When it translates, there is nothing to copy."],
  ["A bag of words", { positions: true },
    "Without positions, the encoder cannot know who helps whom. It still gets many " +
    "sentences right: which ones?"],
  ["Without √d_k", { scale: true },
    "The scores are nearly six times as large, so each softmax begins with its mind " +
    "made up, and its gradient is small."],
];

/** The controls: `read` gives what train_session.js takes, `set` changes them all. */
export function makeControls(onChange) {
  const of = (label, ...options) => choice({ label, options, onChange });
  const numbers = (...values) => values.map((value) => [value, `${value}`]);
  const controls = {
    norm: of("Layer norm", ["post", "post-LN"], ["pre", "pre-LN"]),
    n_layers: of("Layers on each side", ...numbers(1, 2, 4)),
    n_heads: of("Heads", ...numbers(1, 2, 4)),
    d_model: of("Width d_model", ...numbers(16, 32, 64)),
    lr: slider({ label: "Learning rate", values: LEARNING_RATES, onChange }),
    warmup: slider({ label: "Warm-up, in updates", values: WARMUPS, onChange }),
    schedule: of("After the warm-up, the learning rate",
      ["inverse-sqrt", "falls"], ["constant", "stays"]),
  };
  for (const [name, label] of Object.entries(WITHOUT))
    controls[name] = toggle({ label: `take away ${label}`, onChange });

  function read() {
    const value = (name) => controls[name].value;
    const all = (...names) => Object.fromEntries(names.map((one) => [one, value(one)]));
    const model = all("norm", "n_layers", "n_heads", "d_model");
    return {
      model: { ...model, d_ff: 2 * model.d_model },
      train: all("lr", "warmup", "schedule"),
      without: all(...Object.keys(WITHOUT)),
      seed: 1,
    };
  }
  function set(wanted) {
    for (const [name, one] of Object.entries(controls)) one.set(wanted[name] ?? false);
  }
  return { read, set, elements: Object.values(controls).map(({ element }) => element) };
}

/** Settings in words, to compare two runs by. */
export function inWords({ model, train, without }) {
  const { norm, n_layers, n_heads, d_model } = model, { lr, warmup, schedule } = train;
  const gone = Object.keys(WITHOUT).filter((name) => without[name]);
  return [
    `${norm}-LN`, `${n_layers} + ${n_layers} layers`, `heads ${n_heads}`,
    `width ${d_model}`, `learning rate ${lr}`, `warm-up ${warmup}`,
    ...(schedule === "constant" ? ["then constant"] : []),
    ...gone.map((name) => `without ${WITHOUT[name]}`),
  ].join(", ");
}
