// nmt_lib's translator in a browser. It reads the model file that Python writes, and a
// sentence takes the same path: text → tokens → encoder → decoder → search → text.
// Names and shapes are those of nmt_lib and of the paper (Vaswani et al., 2017): S and
// T are the lengths of source and target, D is d_model, H n_heads, V the size of the
// target vocabulary. A matrix (T, D) is an array of T rows, each a Float32Array.

import { readFile, readWeights } from "./model_file.js";
import { EOS, makeTokenizer, PAD, SOS, UNK } from "./tokenizers.js";
import { makeKernel } from "./translator_kernel.js";

/** The translator in a `model.safetensors` of nmt_lib, given as an ArrayBuffer. Without
 * `kernel`, or where the browser has no SIMD, all is computed in plain JavaScript. */
export async function load(buffer, { kernel = true } = {}) {
  const { metadata, tensors } = readFile(buffer);
  try {
    const { src_tokenizer, tgt_tokenizer } = metadata;
    const src = await makeTokenizer(src_tokenizer);
    const tgt = tgt_tokenizer ? await makeTokenizer(tgt_tokenizer) : src;
    const config = JSON.parse(metadata.config);
    const sizes = [src.tokens.length, tgt.tokens.length];
    const weights = readWeights(tensors, config.model, ...sizes);
    const multiply = kernel ? await makeKernel(weights).catch(() => null) : null;
    return new Translator(config, weights, src, tgt, multiply);
  } catch (error) {
    throw new Error(`it was made by another version of nmt_lib (${error.message})`);
  }
}

export class Translator {
  constructor(config, weights, srcTokenizer, tgtTokenizer, multiply) {
    Object.assign(this, { config, srcTokenizer, tgtTokenizer });
    this.model = new Transformer(config.model, weights, multiply);
  }

  /** The source as the model reads it: [S] of {id, token}; [] for an empty text.
   * What is unknown has the id UNK, and its own letters as its token. */
  encode(text) {
    const { max_source_tokens: limit } = this.config.decode;
    const tokens = this.srcTokenizer.tokenize(text);
    if (!tokens.length) return [];
    if (this.config.data.src_specials) tokens.unshift({ id: SOS, token: "<sos>" });
    return [...tokens.slice(0, limit - 1), { id: EOS, token: "<eos>" }];
  }

  /** Translates a text: greedily, or with a beam of several prefixes (section 6.1) and
   * a length penalty with the exponent `alpha`; with a `temperature`, words are drawn
   * from the probabilities to the power of 1 / temperature, by numbers from `seed`.
   *
   * `closed(kind, layer, head, column)` says which columns attention may not use;
   * `prefix` holds the ids that the translation must begin with. `onStep(ids)` is
   * awaited after each step: there, a page can show the ids, or wait for a moment.
   *
   * The result has an entry for each token written, <eos> included: in `steps` its most
   * likely choices, in maps.decoder and maps.cross the row of weights behind it. */
  async translate(text, options = {}) {
    const { length_penalty, max_extra_tokens } = this.config.decode;
    const { beamSize = 1, alpha = length_penalty, temperature = 0, seed = 0 } = options;
    const { closed, prefix = [], onStep, signal } = options, random = generator(seed);
    const source = this.encode(text), limit = source.length + max_extra_tokens;
    const { encoder, caches } = this.model.encode(source.map(({ id }) => id), closed);
    const name = (id) => ({ id, token: this.tgtTokenizer.tokens[id] });
    const found = source.length ? [] : [{ ids: [], steps: [], score: 0 }], trace = [];
    let open = source.length ? [{ ids: [], steps: [], total: 0, own: [] }] : [];
    for (let t = 0; open.length; t++) {
      const forced = prefix[t] ?? (t < limit ? null : EOS);
      const all = open.flatMap(({ ids, steps, total, own: past }) => {
        const next = this.model.decode(ids.at(-1) ?? SOS, t, past, caches, closed);
        const best = largest(next.p, Math.max(8, 2 * beamSize));
        const choices = best.slice(0, 8).map((id) => ({ ...name(id), p: next.p[id] }));
        const drawn = temperature ? draw(next.p, temperature, random()) : null;
        const id = forced ?? drawn;
        return (id === null ? best : [id]).map((id) => ({
          ids: [...ids, id], own: next.own, total: total + Math.log(next.p[id]),
          steps: [...steps, { ...next, choices }],
        }));
      }).sort((a, b) => b.total - a.total);
      if (Number.isNaN(all[0].total)) throw new Error("the weights are not finite");
      const candidates = all.slice(0, beamSize === 1 ? 1 : 2 * beamSize);
      open = candidates.filter(({ ids }) => ids[t] !== EOS).slice(0, beamSize);
      for (const one of candidates) {
        const ended = one.ids[t] === EOS, { ids, total: logProb } = one;
        const fate = ended ? "finished" : open.includes(one) ? "kept" : "dropped";
        const before = { step: t + 1, prefix: ids.slice(0, t) };
        trace.push({ ...before, ...name(ids[t]), logProb, fate });
        if (ended) found.push({ ...one, score: logProb / lengthPenalty(t + 1, alpha) });
      }
      found.sort((a, b) => b.score - a.score);
      // Log-probabilities only fall, and the penalty is largest at the length limit.
      const reach = (open[0]?.total ?? -Infinity) / lengthPenalty(limit + 1, alpha);
      if (reach <= (found[beamSize - 1]?.score ?? -Infinity)) break;
      await onStep?.(open[0]?.ids ?? []);
      signal?.throwIfAborted();
    }
    const nBest = found.slice(0, beamSize).map(({ ids, score }) =>
      ({ text: this.tgtTokenizer.decode(ids), score }));
    const { ids, steps } = found[0];
    return {
      ...nBest[0], nBest, trace, ids,
      source: source.map(({ token }) => token),
      sourceIds: source.map(({ id }) => id),
      tokens: ids.map((id) => name(id).token),
      logProbs: ids.map((id, t) => Math.log(steps[t].p[id])),
      steps: steps.map(({ choices }) => choices),
      maps: { encoder, decoder: stack(steps, "decoder"), cross: stack(steps, "cross") },
    };
  }
}

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An index drawn in proportion to p^(1 / temperature), by a number from 0 to 1. */
export function draw(p, temperature, number) {
  const top = p.reduce((a, b) => Math.max(a, b), 0);
  const weights = p.map((one) => (one / top) ** (1 / temperature));
  let left = number * weights.reduce((a, b) => a + b, 0);
  const at = weights.findIndex((weight) => (left -= weight) < 0);
  return at < 0 ? weights.findLastIndex((weight) => weight > 0) : at;
}

/** ((5 + length) / 6)^α: without it, short translations win. */
const lengthPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/** The weights of T steps, [n_layers][H][1] each, as maps: [n_layers][H][T]. */
function stack(steps, kind) {
  const longest = steps.at(-1)?.[kind][0][0][0].length ?? 0;
  const filled = (row) => Float32Array.from({ length: longest }, (_, s) => row[s] ?? 0);
  return (steps[0]?.[kind] ?? []).map((heads, layer) => heads.map((_, head) =>
    steps.map((step) => filled(step[kind][layer][head][0]))));
}

/** The indices of the n largest numbers, the largest first. */
function largest(numbers, n) {
  const best = [];
  for (let i = 0; i < numbers.length; i++) {
    if (best.length === n && numbers[i] <= numbers[best[n - 1]]) continue;
    const at = best.findIndex((one) => numbers[i] > numbers[one]);
    best.splice(at < 0 ? best.length : at, 0, i);
    best.length = Math.min(best.length, n);
  }
  return best;
}

export class Transformer {
  constructor(config, weights, multiply = null) {
    this.config = config;
    this.multiply = multiply; // a faster way to compute what `linear` computes
    this.weights = weights; // name → {data, shape}; a tied matrix is in the file once
    weights["tgt_embedding.lookup.weight"] ??= weights["src_embedding.lookup.weight"];
    weights["output.weight"] ??= weights["tgt_embedding.lookup.weight"];
    this.preNorm = config.norm === "pre";
    this.finalNorm = config.final_norm ?? this.preNorm;
    this.watch = null; // gets the name of a part and what it computes
  }

  /** Source ids [S] to the encoder's weights [n_layers][H][S][S], and for each decoder
   * layer the keys and values of the memory, (S, D) each. */
  encode(ids, closed) {
    const { n_layers, n_decoder_layers } = this.config, encoder = [];
    let x = this.embed("src_embedding", ids, 0); // (S, D)
    for (let layer = 0; layer < n_layers; layer++) {
      const name = `encoder.layers.${layer}`, own = `${name}.self_attention`;
      const hidden = closed &&
        ((head, column) => closed("encoder", layer, head, column));
      x = this.residual(`${name}.around_attention`, x, (h) =>
        this.attention(own, h, this.keysValues(own, h), encoder, hidden)); // (S, D)
      x = this.feedForward(name, x); // (S, D)
    }
    const memory = this.finalNorm ? this.norm("encoder.norm", x) : x; // (S, D)
    this.watch?.("memory", memory);
    const caches = Array.from({ length: n_decoder_layers ?? n_layers }, (_, layer) =>
      this.keysValues(`decoder.layers.${layer}.cross_attention`, memory));
    return { encoder, caches };
  }

  /** The target id at position t to the probabilities p [V] of the next one, and the
   * weights, [n_layers][H][1]. `past` holds each layer's keys and values of positions
   * 0 … t − 1, the result's `own` those of position t as well. */
  decode(id, t, past, caches, closed) {
    const own = [], decoder = [], cross = [];
    let x = this.embed("tgt_embedding", [id], t); // (1, D)
    caches.forEach((source, layer) => {
      const name = `decoder.layers.${layer}`;
      const hide = (kind) =>
        closed && ((head, column) => closed(kind, layer, head, column));
      x = this.residual(`${name}.around_self_attention`, x, (h) => {
        const { keys, values } = this.keysValues(`${name}.self_attention`, h);
        const { keys: k, values: v } = past[layer] ?? { keys: [], values: [] };
        own[layer] = { keys: [...k, ...keys], values: [...v, ...values] }; // (t + 1, D)
        const hidden = hide("decoder");
        return this.attention(`${name}.self_attention`, h, own[layer], decoder, hidden);
      }); // (1, D)
      x = this.residual(`${name}.around_cross_attention`, x, (h) =>
        this.attention(`${name}.cross_attention`, h, source, cross, hide("cross")));
      x = this.feedForward(name, x); // (1, D)
    });
    if (this.finalNorm) x = this.norm("decoder.norm", x); // (1, D)
    const [logits] = this.linear("output", x); // [V]
    this.watch?.("output", logits);
    const p = softmax(logits); // [V]
    p[PAD] = p[SOS] = 0;
    return { p, own, decoder, cross };
  }

  /** Ids to vectors, each with its position added (sections 3.4 and 3.5). */
  embed(name, ids, start) {
    const { data, shape: [, D] } = this.weights[`${name}.lookup.weight`];
    const factor = this.config.scale_embeddings ? Math.sqrt(D) : 1;
    return ids.map((id, t) => Float32Array.from({ length: D }, (_, i) => {
      const angle = (start + t) / 10000 ** ((i - (i % 2)) / D);
      return data[id * D + i] * factor + (i % 2 ? Math.cos(angle) : Math.sin(angle));
    })); // (T, D)
  }

  /** In each head, each row of x takes a weighted mean of the values, by how well its
   * query fits their keys (section 3.2). The weights [H][T][S] are added to `kept`. */
  attention(name, x, { keys, values }, kept, hidden) {
    const { n_heads: H, d_model: D, d_value } = this.config;
    const d_k = D / H, d_v = d_value ?? d_k;
    const queries = this.linear(`${name}.W_q`, x); // (T, D)
    const heads = x.map(() => new Float32Array(H * d_v)); // (T, H · d_v)
    const weights = Array.from({ length: H }, (_, head) => queries.map((query, t) => {
      const scores = Float32Array.from(keys, (key, s) => hidden?.(head, s)
        ? -Infinity : dot(query, head * d_k, key, head * d_k, d_k) / Math.sqrt(d_k));
      const row = softmax(scores); // [S]
      values.forEach((value, s) => {
        const end = (head + 1) * d_v;
        for (let i = head * d_v; i < end; i++) heads[t][i] += row[s] * value[i];
      });
      return row;
    }));
    kept.push(weights);
    this.watch?.(name, { queries, keys, values, weights, heads });
    return this.linear(`${name}.W_o`, heads); // (T, D)
  }

  keysValues(name, x) {
    const keys = this.linear(`${name}.W_k`, x), values = this.linear(`${name}.W_v`, x);
    return { keys, values }; // (S, D) each
  }

  /** Two linear layers with ReLU between them (section 3.3). */
  feedForward(layer, x) {
    return this.residual(`${layer}.around_feed_forward`, x, (h) => {
      const hidden = this.linear(`${layer}.feed_forward.W_1`, h); // (T, d_ff)
      const active = hidden.map((row) => row.map((value) => Math.max(value, 0)));
      const y = this.linear(`${layer}.feed_forward.W_2`, active); // (T, D)
      this.watch?.(`${layer}.feed_forward`, { hidden: active, y });
      return y;
    });
  }

  /** Post-LN, the paper's, normalises the sum; pre-LN what the sub-layer reads. */
  residual(name, x, sublayer) {
    const y = sublayer(this.preNorm ? this.norm(`${name}.norm`, x) : x); // (T, D)
    const sum = x.map((row, t) => row.map((value, i) => value + y[t][i])); // (T, D)
    const result = this.preNorm ? sum : this.norm(`${name}.norm`, sum); // (T, D)
    this.watch?.(name, result);
    return result;
  }

  /** Each row with mean 0 and variance 1, times a gain, plus a bias. */
  norm(name, x) {
    const { data: gain } = this.weights[`${name}.weight`];
    const bias = this.weights[`${name}.bias`]?.data;
    return x.map((row) => {
      const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
      const squares = row.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const factor = 1 / Math.sqrt(squares / row.length + 1e-5);
      return row.map((value, i) =>
        (value - mean) * factor * gain[i] + (bias?.[i] ?? 0));
    });
  }

  /** x Wᵀ + b: (T, columns of W) to (T, rows of W). */
  linear(name, x) {
    const matrix = this.weights[`${name}.weight`];
    const { data: W, shape: [rows, columns] } = matrix;
    const bias = this.weights[`${name}.bias`]?.data ?? new Float32Array(rows);
    return x.map((row) => {
      const y = bias.slice(); // [rows]
      let r = this.multiply?.(matrix, row, y) ?? 0;
      for (; r + 3 < rows; r += 4) { // four rows at once: each number is read once
        const at = r * columns;
        let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (let i = 0; i < columns; i++) {
          const value = row[i];
          s0 += value * W[at + i];
          s1 += value * W[at + columns + i];
          s2 += value * W[at + 2 * columns + i];
          s3 += value * W[at + 3 * columns + i];
        }
        y[r] += s0;
        y[r + 1] += s1;
        y[r + 2] += s2;
        y[r + 3] += s3;
      }
      for (; r < rows; r++) y[r] += dot(row, 0, W, r * columns, columns);
      return y;
    });
  }
}

/** The sum of products of n numbers of a, from i on, with n of b, from j on. */
function dot(a, i, b, j, n) {
  let sum = 0;
  for (const end = i + n; i < end; i++, j++) sum += a[i] * b[j];
  return sum;
}

/** Weights that sum to 1; all are 0 where every score is −∞, that is hidden. */
function softmax(scores) {
  const weights = new Float32Array(scores.length);
  let top = -1e30, total = 0;
  for (let i = 0; i < scores.length; i++) top = Math.max(top, scores[i]);
  for (let i = 0; i < scores.length; i++)
    total += weights[i] = Math.exp(scores[i] - top);
  for (let i = 0; i < scores.length; i++) weights[i] /= total || 1;
  return weights;
}
