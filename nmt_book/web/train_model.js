// The Transformer as it is trained: random weights, a loss, and its gradient by the
// tape of train_ops.js. There is no dropout.

import { shapes } from "./model_file.js";
import { crossEntropy } from "./train_ops.js";
import { Transformer } from "./transformer.js";

export class Model extends Transformer {
  /** `config` is nmt_lib's section `model`, S and V are the sizes of the vocabularies;
   * `without` is that of the Transformer. */
  constructor(config, S, V, { tape, random, without }) {
    const weights = {};
    for (const [name, ...shape] of shapes(config, S, V)) {
      weights[name] = tape.tensor(...shape);
      initialise(name, weights[name], random);
    }
    const tensors = Object.values(weights); // each once
    super(config, weights, { tape, without });
    Object.assign(this, { tensors, start: tape.used });
  }

  /** The mean loss of a token; the gradient of every weight is then in its `grad`. */
  loss(batch, labelSmoothing) {
    for (const { grad } of this.tensors) grad.fill(0);
    const logits = this.forward(batch, { causal: !this.without.causalMask }); // (NT, V)
    const loss = crossEntropy(logits, batch.tgtOut.ids, labelSmoothing);
    this.tape.backward();
    return loss;
  }

  forward(batch, options) {
    this.tape.reset(this.start);
    return super.forward(batch, options);
  }
}

/** As in nmt_lib: matrices by Xavier, embeddings with deviation 1 / √D, biases 0. */
function initialise(name, { shape: [rows, columns], data }, random) {
  const normal = () =>
    Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const bound = Math.sqrt(6 / (rows + columns));
  for (let i = 0; i < data.length; i++) {
    if (name.endsWith("lookup.weight")) data[i] = normal() / Math.sqrt(columns);
    else if (columns) data[i] = bound * (2 * random() - 1);
    else data[i] = name.endsWith("norm.weight") ? 1 : 0;
  }
}
