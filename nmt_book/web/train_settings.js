// What a reader of the training page may change: the controls, and ideas for a start.

import { choice, panel, slider, toggle } from "./kit.js";

const LEARNING_RATES = [0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.02,
  0.03, 0.04, 0.06, 0.1];
const WARMUPS = [0, 10, 25, 50, 75, 100, 150, 200, 300, 400];
const WITHOUT = {
  causalMask: "the causal mask", positions: "the positions", scale: "√d_k",
};
const AFTER = { "inverse-sqrt": "falls", constant: "stays" };
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

/** The controls; the names of their values are those of `data.settings`. */
export function makeControls(settings) {
  const missing = Object.entries(WITHOUT).map(([name, label]) =>
    [name, toggle(`take away ${label}`)]);
  return panel({
    norm: choice({ label: "Layer norm", texts: { post: "post-LN", pre: "pre-LN" } }),
    n_layers: choice({ label: "Layers on each side", values: [1, 2, 4] }),
    n_heads: choice({ label: "Heads", values: [1, 2, 4] }),
    d_model: choice({ label: "Width d_model", values: [16, 32, 64] }),
    lr: slider({ label: "Learning rate", values: LEARNING_RATES }),
    warmup: slider({ label: "Warm-up, in updates", values: WARMUPS }),
    schedule: choice({ label: "After the warm-up, the learning rate", texts: AFTER }),
    ...Object.fromEntries(missing),
  }, settings);
}

/** What train_session.js takes. */
export function asked(values) {
  const { norm, n_layers, n_heads, d_model, lr, warmup, schedule, ...without } = values;
  return {
    model: { norm, n_layers, n_heads, d_model, d_ff: 2 * d_model },
    train: { lr, warmup, schedule }, without, seed: 1,
  };
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
