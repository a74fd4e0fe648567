// The Transformer's forward pass, for training and for translating: of all positions of
// a batch at once, or token by token, with the keys and values of the past.
// Names and shapes are those of nmt_lib and of the paper (Vaswani et al., 2017). Tokens
// are {ids, starts, places}: sentences one behind the other, where each begins and all
// end, and where each token is in its sentence.

import { add, attend, embed, linear, norm, Plain, relu } from "./train_ops.js";

export const PARTS = { // of a layer: its stack, an attention, and what is around that
  encoder: ["encoder", "self_attention", "around_attention"],
  decoder: ["decoder", "self_attention", "around_self_attention"],
  cross: ["decoder", "cross_attention", "around_cross_attention"],
};

export class Transformer {
  /** `weights` are name → {data, shape}. With a `tape` of training, what is computed is
   * recorded; `without` may take away what chapters 02 to 04 are about: {causalMask,
   * positions, scale: true}, where scale is 1 / √d_k. */
  constructor(config, weights, { tape = new Plain(), without = {} } = {}) {
    Object.assign(this, { config, weights, tape, without });
    const [src, tgt] = ["src", "tgt"].map((side) => `${side}_embedding.lookup.weight`);
    weights[tgt] ??= weights[src]; // tied: one tensor with several names
    weights["output.weight"] ??= weights[tgt];
    this.preNorm = config.norm === "pre";
    this.finalNorm = config.final_norm ?? this.preNorm;
    this.depths = { encoder: config.n_layers };
    this.depths.decoder = config.n_decoder_layers ?? config.n_layers;
    this.watch = null; // gets the name of a part and what it computes
  }

  /** The logits (NT, V) of each next token, all positions at once; `closed(kind, layer,
   * head, column)` says which columns attention may not use. */
  forward({ src, tgtIn }, { causal = true, closed } = {}) {
    const { sources } = this.encode(src, closed);
    return this.decode(tgtIn, sources, { causal, closed }).logits;
  }

  /** Source tokens to the `sources` of each decoder layer, keys and values of the
   * memory; and the weights of each layer, [H · NS] rows. */
  encode(src, closed) {
    const pass = { closed, encoder: [] };
    let x = this.embed("src_embedding", src); // (NS, D)
    for (let layer = 0; layer < this.depths.encoder; layer++) {
      x = this.attention("encoder", layer, x, src, pass); // (NS, D)
      x = this.feedForward(`encoder.layers.${layer}`, x); // (NS, D)
    }
    const memory = this.finalNorm ? this.norm("encoder.norm", x) : x; // (NS, D)
    this.watch?.("memory", { memory });
    const sources = Array.from({ length: this.depths.decoder }, (_, layer) =>
      this.keysValues(`decoder.layers.${layer}.cross_attention`, memory, src));
    return { sources, encoder: pass.encoder };
  }

  /** Target tokens to the logits (NT, V) of the next ones, and the weights. `past` are
   * keys and values of the tokens before, the `own` of the result those of all. */
  decode(tgt, sources, { closed, causal = true, past = [] } = {}) {
    const pass = { closed, causal, past, own: [], decoder: [], cross: [] };
    let x = this.embed("tgt_embedding", tgt, past[0]?.at.starts[1]); // (NT, D)
    sources.forEach((source, layer) => {
      x = this.attention("decoder", layer, x, tgt, pass); // (NT, D)
      x = this.attention("cross", layer, x, tgt, pass, source); // (NT, D)
      x = this.feedForward(`decoder.layers.${layer}`, x); // (NT, D)
    });
    if (this.finalNorm) x = this.norm("decoder.norm", x); // (NT, D)
    return { logits: this.linear("output", x), ...pass };
  }

  /** Ids to vectors, with the positions from `start` on added (3.4 and 3.5). */
  embed(name, tokens, start = 0) {
    const n = 1 + Math.max(...tokens.places), { d_model: D } = this.config;
    const positions = this.without.positions ? undefined : sinusoids(start, n, D);
    const W = this.weights[`${name}.lookup.weight`];
    return embed(this.tape, W, tokens, this.factor, positions); // (N, D)
  }

  get factor() {
    return this.config.scale_embeddings ? Math.sqrt(this.config.d_model) : 1;
  }

  /** In each head, each token takes a weighted mean of the values, by how well its
   * query fits their keys (section 3.2); `source` is what is looked at, if not x. */
  attention(kind, layer, x, tgt, pass, source) {
    const { d_model, n_heads: H } = this.config, [stack, part, around] = PARTS[kind];
    const scale = this.without.scale ? 1 : 1 / Math.sqrt(d_model / H);
    const at = `${stack}.layers.${layer}`, name = `${at}.${part}`, { closed } = pass;
    const hidden = closed && ((head, column) => closed(kind, layer, head, column));
    const causal = kind === "decoder" && !pass.past.length && pass.causal;
    return this.residual(`${at}.${around}`, x, (h) => {
      const Q = this.linear(`${name}.W_q`, h); // (NT, D)
      const own = source ?? this.keysValues(name, h, tgt, pass.past?.[layer]);
      const { K, V } = own; // (NS, D), (NS, H · d_v)
      if (kind === "decoder") pass.own.push(own);
      const [heads, weights] =
        attend(this.tape, Q, K, V, tgt, own.at, { H, scale, causal, hidden });
      pass[kind].push(weights);
      this.watch?.(name, { Q, K, V, heads }, weights);
      return this.linear(`${name}.W_o`, heads); // (NT, D)
    });
  }

  /** Keys and values of x, behind those of the past. */
  keysValues(name, x, at, past) {
    const [K, V] = ["W_k", "W_v"].map((part) => this.linear(`${name}.${part}`, x));
    if (!past) return { K, V, at };
    const all = { K: join(past.K, K), V: join(past.V, V) };
    return { ...all, at: { starts: [0, all.K.shape[0]] } };
  }

  /** Two linear layers with ReLU between them (section 3.3). */
  feedForward(layer, x) {
    const name = `${layer}.feed_forward`;
    const result = this.residual(`${layer}.around_feed_forward`, x, (h) => {
      const hidden = relu(this.tape, this.linear(`${name}.W_1`, h)); // (N, d_ff)
      const y = this.linear(`${name}.W_2`, hidden); // (N, D)
      this.watch?.(name, { hidden, y });
      return y;
    });
    this.watch?.(name, { result });
    return result;
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

/** Sentences as tokens. */
export function tokensOf(...sentences) {
  const starts = new Int32Array(sentences.length + 1);
  sentences.forEach((ids, b) => { starts[b + 1] = starts[b] + ids.length; });
  const places = sentences.flatMap((ids) => [...ids.keys()]); // in its sentence
  return { ids: Int32Array.from(sentences.flat()), starts, places };
}

/** The sines and cosines of n positions from `start` on, (n, D) (section 3.5). */
export function sinusoids(start, n, D) {
  return Float32Array.from({ length: n * D }, (_, at) => {
    const i = at % D, position = start + Math.floor(at / D);
    const angle = position / 10000 ** ((i - (i % 2)) / D);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** The rows of a, and then those of b. */
function join({ data: a, shape: [rows, D] }, { data: b, shape: [more] }) {
  const data = new Float32Array(a.length + b.length);
  data.set(a);
  data.set(b, a.length);
  return { data, shape: [rows + more, D] };
}
