// nmt_lib's translator in a browser. It reads the model file that Python writes, and a
// sentence takes the same path: text → tokens → encoder → decoder → search → text.
// S and T are the lengths of source and target, H is n_heads, and V the size of the
// target vocabulary.

import { readFile, readWeights } from "./model_file.js";
import { beamSearch } from "./beam_search.js";
import { EOS, makeTokenizer, PAD, SOS } from "./tokenizers.js";
import { makePlain } from "./train_kernel.js";
import { softmax } from "./train_ops.js";
import { tokensOf, Transformer } from "./transformer.js";

/** The translator in a `model.safetensors` of nmt_lib, given as an ArrayBuffer. Without
 * `kernel`, or where the browser has no SIMD, all is computed in plain JavaScript. */
export async function load(buffer, { kernel = true } = {}) {
  const { metadata, tensors } = readFile(buffer);
  try {
    const { src_tokenizer, tgt_tokenizer } = metadata;
    const src = await makeTokenizer(src_tokenizer);
    const tgt = tgt_tokenizer ? await makeTokenizer(tgt_tokenizer) : src;
    const config = JSON.parse(metadata.config), { decode } = config;
    for (const name of ["length_penalty", "max_extra_tokens", "max_source_tokens"])
      if (!(decode[name] >= 0 && decode[name] <= 1e5))
        throw new Error(`decode.${name} is ${decode[name]}`);
    const sizes = [src.tokens.length, tgt.tokens.length];
    const weights = readWeights(tensors, config.model, ...sizes);
    const tape = kernel ? await makePlain(weights).catch(() => undefined) : undefined;
    return new Translator(config, weights, src, tgt, { tape });
  } catch (error) {
    throw new Error(`it was made by another version of nmt_lib (${error.message})`);
  }
}

export class Translator {
  /** `options` are those of the Transformer. */
  constructor(config, weights, srcTokenizer, tgtTokenizer, options) {
    Object.assign(this, { config, srcTokenizer, tgtTokenizer });
    this.model = new Transformer(config.model, weights, options);
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
    const sourceIds = source.map(({ id }) => id);
    const { encoder, sources } = this.model.encode(tokensOf(sourceIds), closed);
    const name = (id) => ({ id, token: this.tgtTokenizer.tokens[id] });
    const next = ({ path, seen }, t) => {
      const read = tokensOf([path.at(-1) ?? SOS]), past = seen?.own;
      const now = this.model.decode(read, sources, { past, closed });
      const p = softmax(now.logits.data); // [V]
      if (Number.isNaN(p[EOS])) throw new Error("the weights are not finite");
      p[PAD] = p[SOS] = 0;
      const best = largest(p, Math.max(8, 2 * beamSize));
      const choices = best.slice(0, 8).map((id) => ({ ...name(id), p: p[id] }));
      const drawn = temperature ? [draw(p, temperature, random())] : best;
      const one = t > limit ? EOS : prefix[t - 1];
      return (one === undefined ? drawn : [one]).map((token) =>
        ({ token, logProb: Math.log(p[token]), seen: { ...now, choices } }));
    };
    const most = beamSize === 1 ? 1 : 2 * beamSize, trace = [];
    const asked = { K: beamSize, alpha, limit, eos: EOS, most };
    let found = [{ path: [], score: 0 }];
    for (const step of source.length ? beamSearch({}, next, asked) : []) {
      ({ found } = step);
      trace.push(...step.candidates.map(({ path, total, fate }) => ({
        step: path.length, prefix: path.slice(0, -1), ...name(path.at(-1)),
        logProb: total, fate,
      })));
      await onStep?.(step.open[0]?.path ?? []);
      signal?.throwIfAborted();
    }
    const steps = [], [best] = found, { path: ids, score } = best;
    for (let one = best; one.parent; one = one.parent) steps.unshift(one);
    return {
      text: this.tgtTokenizer.decode(ids), score, trace, ids, sourceIds,
      source: source.map(({ token }) => token),
      tokens: ids.map((id) => name(id).token),
      logProbs: steps.map(({ logProb }) => logProb),
      steps: steps.map(({ seen }) => seen.choices),
      maps: {
        encoder: encoder.map((rows) => heads(rows, source.length)),
        decoder: stack(steps, "decoder"), cross: stack(steps, "cross"),
      },
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

/** Rows of weights, T of each head, as [H][T]. */
const heads = (rows, T) =>
  Array.from({ length: rows.length / T }, (_, head) =>
    rows.slice(head * T, (head + 1) * T));

/** The weights of T steps, [n_layers][H] rows each, as maps: [n_layers][H][T]. */
function stack(steps, kind) {
  const longest = steps.at(-1)?.seen[kind][0][0].length ?? 0;
  const filled = (row) => Float32Array.from({ length: longest }, (_, s) => row[s] ?? 0);
  return (steps[0]?.seen[kind] ?? []).map((rows, layer) => rows.map((_, head) =>
    steps.map(({ seen }) => filled(seen[kind][layer][head]))));
}

/** The indices of the n largest numbers, the largest first. */
export function largest(numbers, n) {
  const best = [];
  for (let i = 0; i < numbers.length; i++) {
    if (best.length === n && numbers[i] <= numbers[best[n - 1]]) continue;
    const at = best.findIndex((one) => numbers[i] > numbers[one]);
    best.splice(at < 0 ? best.length : at, 0, i);
    best.length = Math.min(best.length, n);
  }
  return best;
}
