// The Transformer as it is trained: forward, and backward by the tape of train_ops.js.
// Names of the weights are those of nmt_lib: translator.js reads the same arrays, so it
// translates with a model while that is being trained. There is no dropout.

import { shapes } from "./model_file.js";
import { add, attend, crossEntropy, embed, linear, norm, relu } from "./train_ops.js";

const CROSS = "cross_attention", SELF = "self_attention";

export class Model {
  /** A model with random weights. `config` is nmt_lib's section `model`, S and V are
   * the sizes of the vocabularies. `without` may take away what chapters 02 to 04 are
   * about: {causalMask, positions, scale: true}, where scale is 1 / √d_k. */
  constructor(config, S, V, { tape, random, without = {} }) {
    Object.assign(this, { config, tape, without, weights: {} });
    this.preNorm = config.norm === "pre";
    this.finalNorm = config.final_norm ?? this.preNorm;
    for (const [name, ...shape] of shapes(config, S, V)) {
      this.weights[name] = tape.tensor(...shape);
      initialise(name, this.weights[name], random);
    }
    this.tensors = Object.values(this.weights); // each once
    const [src, tgt] = ["src", "tgt"].map((side) => `${side}_embedding.lookup.weight`);
    this.weights[tgt] ??= this.weights[src]; // tied: one tensor with several names
    this.weights["output.weight"] ??= this.weights[tgt];
    this.start = tape.used;
  }

  /** The mean loss of a token; the gradient of every weight is then in its `grad`. */
  loss(batch, labelSmoothing) {
    for (const { grad } of this.tensors) grad.fill(0);
    const logits = this.forward(batch, !this.without.causalMask); // (NT, V)
    const loss = crossEntropy(logits, batch.tgtOut.ids, labelSmoothing);
    this.tape.backward();
    return loss;
  }

  /** The logits (NT, V) of each next token, all positions at once. */
  forward({ src, tgtIn }, causal = true) {
    this.tape.reset(this.start);
    const memory = this.encode(src); // (NS, D)
    const x = this.decode(tgtIn, memory, src, causal); // (NT, D)
    return this.linear("output", x); // (NT, V)
  }

  encode(src) {
    let x = this.embed("src_embedding", src); // (NS, D)
    for (let layer = 0; layer < this.config.n_layers; layer++) {
      const name = `encoder.layers.${layer}`;
      x = this.residual(`${name}.around_attention`, x, (h) =>
        this.attention(`${name}.${SELF}`, h, src, h, src)); // (NS, D)
      x = this.feedForward(name, x); // (NS, D)
    }
    return this.finalNorm ? this.norm("encoder.norm", x) : x; // (NS, D)
  }

  decode(tgt, memory, src, causal) {
    const { n_layers, n_decoder_layers } = this.config;
    let x = this.embed("tgt_embedding", tgt); // (NT, D)
    for (let layer = 0; layer < (n_decoder_layers ?? n_layers); layer++) {
      const name = `decoder.layers.${layer}`;
      x = this.residual(`${name}.around_${SELF}`, x, (h) =>
        this.attention(`${name}.${SELF}`, h, tgt, h, tgt, causal)); // (NT, D)
      x = this.residual(`${name}.around_${CROSS}`, x, (h) =>
        this.attention(`${name}.${CROSS}`, h, tgt, memory, src)); // (NT, D)
      x = this.feedForward(name, x); // (NT, D)
    }
    return this.finalNorm ? this.norm("decoder.norm", x) : x; // (NT, D)
  }

  embed(name, tokens) {
    const { d_model: D, scale_embeddings } = this.config, n = tokens.longest;
    const positions = this.without.positions ? undefined : sinusoids(n, D); // (n, D)
    const factor = scale_embeddings ? Math.sqrt(D) : 1;
    const W = this.weights[`${name}.lookup.weight`];
    return embed(this.tape, W, tokens, factor, positions); // (N, D)
  }

  attention(name, x, tgt, memory, src, causal = false) {
    const { d_model, n_heads: H } = this.config;
    const Q = this.linear(`${name}.W_q`, x); // (NT, D)
    const K = this.linear(`${name}.W_k`, memory); // (NS, D)
    const V = this.linear(`${name}.W_v`, memory); // (NS, D)
    const scale = this.without.scale ? 1 : 1 / Math.sqrt(d_model / H);
    const heads = attend(this.tape, Q, K, V, tgt, src, { H, scale, causal }); // (NT, D)
    return this.linear(`${name}.W_o`, heads); // (NT, D)
  }

  /** Two linear layers with ReLU between them (section 3.3). */
  feedForward(layer, x) {
    return this.residual(`${layer}.around_feed_forward`, x, (h) => {
      const hidden = relu(this.tape, this.linear(`${layer}.feed_forward.W_1`, h));
      return this.linear(`${layer}.feed_forward.W_2`, hidden); // (N, D)
    });
  }

  /** Post-LN, the paper's, normalises the sum; pre-LN what the sub-layer reads. */
  residual(name, x, sublayer) {
    const y = sublayer(this.preNorm ? this.norm(`${name}.norm`, x) : x); // (N, D)
    const sum = add(this.tape, y, x); // (N, D)
    return this.preNorm ? sum : this.norm(`${name}.norm`, sum); // (N, D)
  }

  norm(name, x) {
    const { [`${name}.weight`]: gain, [`${name}.bias`]: bias } = this.weights;
    return norm(this.tape, x, gain, bias); // (N, D)
  }

  linear(name, x) {
    const { [`${name}.weight`]: W, [`${name}.bias`]: b } = this.weights;
    return linear(this.tape, x, W, b); // (N, rows of W)
  }
}

/** The sines and cosines of each position, (n, D) (section 3.5). */
function sinusoids(n, D) {
  return Float32Array.from({ length: n * D }, (_, at) => {
    const i = at % D, angle = Math.floor(at / D) / 10000 ** ((i - (i % 2)) / D);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
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
