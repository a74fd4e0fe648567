// The translator of nmt_lib in a reader's browser: it reads the model file that Python
// writes, and a sentence takes the same path: text → tokens → encoder → decoder →
// search → text. Names and shapes are those of nmt_lib and of the paper (Vaswani et al.,
// 2017): S and T are the lengths of source and target, D is d_model, H n_heads, V the
// size of the target vocabulary. A matrix is an array of rows, each a Float32Array.

export const PAD = 0, UNK = 1, SOS = 2, EOS = 3;

/** The translator in a `model.safetensors` of nmt_lib, given as an ArrayBuffer. */
export async function load(buffer) {
  const { metadata, weights } = readFile(buffer);
  const src = await makeTokenizer(metadata.src_tokenizer);
  const tgt = metadata.tgt_tokenizer ? await makeTokenizer(metadata.tgt_tokenizer) : src;
  return new Translator(JSON.parse(metadata.config), weights, src, tgt);
}

// ---------------------------------------------------------------- the translator

export class Translator {
  constructor(config, weights, srcTokenizer, tgtTokenizer) {
    Object.assign(this, { config, srcTokenizer, tgtTokenizer });
    this.model = new Transformer(config.model, weights);
  }

  /** The source as the model reads it: [S] of {id, token}, nothing for an empty text.
   * An unknown word or character has the id UNK and its own letters as its token. */
  encode(text) {
    const { data: { src_specials: specials }, decode } = this.config;
    const most = 32 * decode.max_source_tokens; // characters
    const all = [...[...text].slice(0, 2 * most).join("").split(SPACES).join(" ").trim()];
    const tokens = this.srcTokenizer.tokenize(all.slice(0, most).join(""));
    if (!tokens.length) return [];
    if (specials) tokens.unshift({ id: SOS, token: "<sos>" });
    return [...tokens.slice(0, decode.max_source_tokens - 1), { id: EOS, token: "<eos>" }];
  }

  /** Translates a text: greedily, or with a beam of several prefixes (section 6.1).
   *
   * `closed(kind, layer, head, row, column)` says which attention weights are hidden;
   * `prefix` holds the ids that the translation must begin with. After each step,
   * `onStep(ids)` is awaited: a page that awaits a timer there stays responsive.
   *
   * The result has a row for each token written, <eos> included: `steps` are its most
   * likely choices, and the rows of maps.decoder and maps.cross the weights behind it. */
  async translate(text, { beamSize = 1, closed, prefix = [], onStep, signal } = {}) {
    const source = this.encode(text), trace = [];
    const { length_penalty: alpha, max_extra_tokens } = this.config.decode;
    if (!source.length) return this.result(source, [], [], [{ steps: [], score: 0 }], trace);
    const limit = source.length + max_extra_tokens;
    const memory = this.model.encode(source.map(({ id }) => id), closed);
    const found = [];
    let open = [{ steps: [], total: 0, caches: null }];
    for (let t = 0; open.length; t++) {
      const forced = prefix[t] ?? (t < limit ? null : EOS);
      const candidates = [];
      for (const before of open) {
        const last = before.steps.at(-1)?.id ?? SOS;
        const next = this.model.decode(last, t, before.caches, memory, closed);
        const best = largest(next.logProbs, Math.max(8, 2 * beamSize));
        const choices = best.slice(0, 8).map((id) => this.choice(id, next.logProbs));
        for (const id of forced === null ? best : [forced]) {
          const logProb = next.logProbs[id], total = before.total + logProb;
          if (Number.isNaN(total)) throw new Error("the model's weights are not finite");
          const step = { id, logProb, choices, decoder: next.decoder, cross: next.cross };
          candidates.push({ steps: [...before.steps, step], total, caches: next.caches });
        }
      }
      candidates.sort((a, b) => b.total - a.total);
      const best = candidates.slice(0, beamSize === 1 ? 1 : 2 * beamSize);
      open = best.filter((candidate) => !ended(candidate)).slice(0, beamSize);
      for (const candidate of best) {
        const { steps, total } = candidate, ids = steps.map(({ id }) => id);
        if (ended(candidate)) {
          found.push({ steps, score: total / lengthPenalty(steps.length, alpha) });
        }
        trace.push({
          step: t + 1, prefix: ids.slice(0, -1), logProb: total, ...this.named(ids[t]),
          fate: ended(candidate) ? "finished" : open.includes(candidate) ? "kept" : "dropped",
        });
      }
      found.sort((a, b) => b.score - a.score);
      // Log-probabilities only fall, and the penalty is largest at the length limit.
      const reach = (open[0]?.total ?? -Infinity) / lengthPenalty(limit + 1, alpha);
      if (reach <= (found[beamSize - 1]?.score ?? -Infinity)) break;
      await onStep?.(open[0].steps.map(({ id }) => id));
      signal?.throwIfAborted();
    }
    return this.result(source, memory.encoder, found.slice(0, beamSize), trace);
  }

  result(source, encoder, found, trace) {
    const { steps, score } = found[0], ids = steps.map(({ id }) => id);
    const textOf = (all) => this.tgtTokenizer.decode(all.map(({ id }) => id));
    return {
      text: textOf(steps), score, trace, ids,
      source: source.map(({ token }) => token), sourceIds: source.map(({ id }) => id),
      tokens: ids.map((id) => this.named(id).token),
      logProbs: steps.map(({ logProb }) => logProb),
      steps: steps.map(({ choices }) => choices),
      nBest: found.map((one) => ({ text: textOf(one.steps), score: one.score })),
      maps: { encoder, decoder: stack(steps, "decoder"), cross: stack(steps, "cross") },
    };
  }

  named(id) {
    return { id, token: this.tgtTokenizer.tokens[id] };
  }

  choice(id, logProbs) {
    return { ...this.named(id), p: Math.exp(logProbs[id]) };
  }
}

const ended = ({ steps }) => steps.at(-1).id === EOS;

/** ((5 + length) / 6)^α: without it, short translations win. */
const lengthPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/** The rows of each step, [T][n_layers][H], as maps: [n_layers][H][T]. */
function stack(steps, kind) {
  const longest = Math.max(0, ...steps.map((step) => step[kind][0][0].length));
  const padded = (row) => Float32Array.from({ length: longest }, (_, s) => row[s] ?? 0);
  return (steps[0]?.[kind] ?? []).map((heads, layer) => heads.map((_, head) =>
    steps.map((step) => padded(step[kind][layer][head]))));
}

/** The indices of the n largest numbers, the largest first. */
function largest(numbers, n) {
  const best = [];
  numbers.forEach((number, i) => {
    if (best.length === n && number <= numbers[best[n - 1]]) return;
    let at = best.length;
    while (at && number > numbers[best[at - 1]]) at--;
    best.splice(at, 0, i);
    if (best.length > n) best.pop();
  });
  return best;
}

// ---------------------------------------------------------------- the model

export class Transformer {
  constructor(config, weights) {
    const { norm, ...sizes } = config, { n_layers, n_decoder_layers, final_norm } = sizes;
    Object.assign(this, sizes, { weights, preNorm: norm === "pre" });
    this.n_decoder_layers = n_decoder_layers ?? n_layers;
    this.final_norm = final_norm ?? this.preNorm;
    weights["tgt_embedding.lookup.weight"] ??= weights["src_embedding.lookup.weight"];
    weights["output.weight"] ??= weights["tgt_embedding.lookup.weight"]; // tied
  }

  /** Source ids [S] to what the decoder reads of them, and the encoder's weights. */
  encode(ids, closed) {
    const encoder = []; // [n_layers][H][S][S]
    let x = this.embed("src_embedding", ids, 0); // (S, D)
    for (let layer = 0; layer < this.n_layers; layer++) {
      const name = `encoder.layers.${layer}`;
      x = this.residual(`${name}.around_attention`, x, (h) => {
        const own = this.keysValues(`${name}.self_attention`, h);
        const hidden = closed && ((...cell) => closed("encoder", layer, ...cell));
        const [y, weights] = this.attention(`${name}.self_attention`, h, own, hidden);
        encoder.push(weights);
        return y;
      }); // (S, D)
      x = this.feedForward(name, x); // (S, D)
    }
    const memory = this.final_norm ? this.norm("encoder.norm", x) : x; // (S, D)
    const caches = Array.from({ length: this.n_decoder_layers }, (_, layer) =>
      this.keysValues(`decoder.layers.${layer}.cross_attention`, memory));
    return { encoder, caches };
  }

  /** One position further: the target id at position t to log-probabilities [V] of the
   * next, with the caches (keys and values of positions 0 … t) for the step after. */
  decode(id, t, past, memory, closed) {
    const caches = [], decoder = [], cross = []; // the weights: [n_layers][H] of one row
    const hide = (kind, layer) =>
      closed && ((head, row, column) => closed(kind, layer, head, t, column));
    let x = this.embed("tgt_embedding", [id], t); // (1, D)
    for (let layer = 0; layer < this.n_decoder_layers; layer++) {
      const name = `decoder.layers.${layer}`, attentions = [
        ["self_attention", decoder, hide("decoder", layer), (h) => {
          const { keys, values } = this.keysValues(`${name}.self_attention`, h);
          const { keys: k, values: v } = past?.[layer] ?? { keys: [], values: [] };
          return (caches[layer] = { keys: [...k, ...keys], values: [...v, ...values] });
        }],
        ["cross_attention", cross, hide("cross", layer), () => memory.caches[layer]],
      ];
      for (const [kind, collected, hidden, read] of attentions) {
        x = this.residual(`${name}.around_${kind}`, x, (h) => {
          const [y, weights] = this.attention(`${name}.${kind}`, h, read(h), hidden);
          collected.push(weights.map(([row]) => row));
          return y;
        }); // (1, D)
      }
      x = this.feedForward(name, x); // (1, D)
    }
    if (this.final_norm) x = this.norm("decoder.norm", x); // (1, D)
    const [logits] = this.linear("output", x); // [V]
    const top = logits.reduce((a, b) => Math.max(a, b));
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0);
    const logProbs = logits.map((logit) => logit - top - Math.log(total)); // [V]
    logProbs[PAD] = logProbs[SOS] = -Infinity;
    return { logProbs, caches, decoder, cross };
  }

  /** Ids to vectors, each with its position added (sections 3.4 and 3.5). */
  embed(name, ids, start) {
    const { data } = this.weights[`${name}.lookup.weight`], D = this.d_model;
    const factor = this.scale_embeddings ? Math.sqrt(D) : 1;
    return ids.map((id, t) => Float32Array.from({ length: D }, (_, i) => {
      const angle = (start + t) / 10000 ** ((i - (i % 2)) / D);
      return data[id * D + i] * factor + (i % 2 ? Math.cos(angle) : Math.sin(angle));
    })); // (T, D)
  }

  /** Each row of x takes a weighted mean of the values, by how well its query fits their
   * keys, in each head (section 3.2). `hidden(head, row, column)` closes a cell. */
  attention(name, x, { keys, values }, hidden) {
    const H = this.n_heads, d_k = this.d_model / H, d_v = values[0].length / H;
    const queries = this.linear(`${name}.W_q`, x); // (T, D)
    const heads = x.map(() => new Float32Array(H * d_v)); // (T, H · d_v)
    const weights = []; // [H][T][S]
    for (let head = 0; head < H; head++) {
      weights.push(queries.map((query, t) => {
        const row = softmax(Float32Array.from(keys, (key, s) => hidden?.(head, t, s)
          ? -Infinity
          : dot(query, head * d_k, key, head * d_k, d_k) / Math.sqrt(d_k))); // [S]
        values.forEach((value, s) => {
          for (let i = head * d_v; i < (head + 1) * d_v; i++) heads[t][i] += row[s] * value[i];
        });
        return row;
      }));
    }
    return [this.linear(`${name}.W_o`, heads), weights]; // (T, D)
  }

  keysValues(name, x) {
    return { keys: this.linear(`${name}.W_k`, x), values: this.linear(`${name}.W_v`, x) };
  }

  /** Two linear layers with ReLU between them (section 3.3). */
  feedForward(layer, x) {
    return this.residual(`${layer}.around_feed_forward`, x, (h) => {
      const hidden = this.linear(`${layer}.feed_forward.W_1`, h); // (T, d_ff)
      for (const row of hidden) row.forEach((value, i) => (row[i] = Math.max(value, 0)));
      return this.linear(`${layer}.feed_forward.W_2`, hidden); // (T, D)
    });
  }

  /** Post-LN, the paper's, normalises the sum; pre-LN what the sub-layer reads. */
  residual(name, x, sublayer) {
    const y = sublayer(this.preNorm ? this.norm(`${name}.norm`, x) : x); // (T, D)
    const sum = x.map((row, t) => row.map((value, i) => value + y[t][i])); // (T, D)
    return this.preNorm ? sum : this.norm(`${name}.norm`, sum); // (T, D)
  }

  /** Each row with mean 0 and variance 1, times a gain, plus a bias. */
  norm(name, x) {
    const gain = this.weights[`${name}.weight`].data, bias = this.weights[`${name}.bias`]?.data;
    return x.map((row) => {
      const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
      const squares = row.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const scale = 1 / Math.sqrt(squares / row.length + 1e-5);
      return row.map((value, i) => (value - mean) * scale * gain[i] + (bias?.[i] ?? 0));
    });
  }

  /** x Wᵀ + b: (T, columns of W) to (T, rows of W). */
  linear(name, x) {
    const { data, shape: [rows, columns] } = this.weights[`${name}.weight`];
    const bias = this.weights[`${name}.bias`]?.data ?? new Float32Array(rows);
    return x.map((row) => {
      const y = new Float32Array(rows);
      for (let r = 0; r < rows; r++) y[r] = bias[r] + dot(row, 0, data, r * columns, columns);
      return y;
    });
  }
}

/** The sum of the products of n numbers of a, from i on, with n of b, from j on. */
function dot(a, i, b, j, n) {
  let s0 = 0, s1 = 0, s2 = 0, s3 = 0; // four sums at a time are faster than one
  const end = i + n;
  for (; i + 3 < end; i += 4, j += 4) {
    s0 += a[i] * b[j];
    s1 += a[i + 1] * b[j + 1];
    s2 += a[i + 2] * b[j + 2];
    s3 += a[i + 3] * b[j + 3];
  }
  for (; i < end; i++, j++) s0 += a[i] * b[j];
  return s0 + s1 + s2 + s3;
}

/** Scores to weights that sum to 1, or to 0 where all is hidden (−∞). */
function softmax(scores) {
  const top = Math.max(-1e30, scores.reduce((a, b) => Math.max(a, b)));
  const weights = scores.map((score) => Math.exp(score - top));
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  return weights.map((weight) => weight / sum);
}

// ---------------------------------------------------------------- the tokenizers

// What Python's str.split() splits at.
const SPACES = /[\s\x1c-\x1f\x85]+/u;

async function makeTokenizer(text) {
  const fields = JSON.parse(text);
  if (fields.tokens) return new WordTokenizer(fields);
  const zipped = Uint8Array.from(atob(fields.model), (letter) => letter.charCodeAt(0));
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("deflate"));
  const model = new Uint8Array(await new Response(stream).arrayBuffer());
  return new SentencePieceTokenizer(fields, model);
}

/** Subwords: SentencePiece's BPE or unigram model. */
export class SentencePieceTokenizer {
  constructor({ kind, lowercase }, model) {
    Object.assign(this, { kind, lowercase, tokens: [], ids: new Map(), scores: [] });
    for (const [field, content] of protobuf(model)) {
      if (field === 1) this.addPiece(Object.fromEntries(protobuf(content)));
      if (field === 3) this.readRules(Object.fromEntries(protobuf(content))[2]);
    }
  }

  addPiece({ 1: bytes, 2: score, 3: type = 1 }) {
    const token = UTF8.decode(bytes), NORMAL = 1;
    if (type === NORMAL) this.ids.set(token, this.tokens.length);
    this.tokens.push(token);
    this.scores.push(score);
  }

  /** The rules that normalise a text: a trie over its bytes, then what replaces them. */
  readRules(bytes = new Uint8Array(4)) {
    const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    this.trie = new Uint32Array(bytes.slice(4, 4 + size).buffer);
    this.replacements = bytes.slice(4 + size);
  }

  /** The text with ligatures, full-width letters and the like replaced, spaces as ▁. */
  normalize(text) {
    const bytes = new TextEncoder().encode(text);
    let out = "";
    for (let i = 0, length; i < bytes.length; i += length) {
      const rule = this.longestRule(bytes, i);
      length = rule.length || [...bytes.subarray(i + 1, i + 4), 0].findIndex((b) => (b & 0xc0) !== 0x80) + 1;
      const to = this.replacements.indexOf(0, rule.value);
      out += UTF8.decode(rule.length ? this.replacements.subarray(rule.value, to) : bytes.subarray(i, i + length));
    }
    out = out.replace(/^ +| +$/g, "").replace(/ +/g, "▁");
    return out && `▁${out}`.replace(/▁+$/, "");
  }

  /** The longest rule that fits the bytes from i on: a walk through a double array. */
  longestRule(bytes, i) {
    const below = (unit) => (unit >>> 10) << ((unit & 512) >>> 6);
    const found = { length: 0, value: 0 };
    let node = this.trie.length ? below(this.trie[0]) : 0;
    for (let at = i; at < bytes.length; at++) {
      node ^= bytes[at];
      const unit = this.trie[node];
      if (unit === undefined || (unit & 0x800000ff) >>> 0 !== bytes[at]) break;
      node ^= below(unit);
      if (unit & 256) Object.assign(found, { length: at + 1 - i, value: this.trie[node] & 0x7fffffff });
    }
    return found;
  }

  /** A text to its subwords; a run of unknown characters is one. */
  tokenize(text) {
    const characters = [...this.normalize(this.lowercase ? text.toLowerCase() : text)];
    const parts = this.kind === "bpe" ? this.merge(characters) : this.mostLikely(characters);
    const out = [];
    for (const token of parts) {
      const id = this.ids.get(token) ?? UNK;
      if (id === UNK && out.at(-1)?.id === UNK) out.at(-1).token += token;
      else out.push({ id, token });
    }
    return out;
  }

  /** BPE: joins the two neighbours with the best score until no two make a subword. */
  merge(parts) {
    const score = (i) => this.scores[this.ids.get(parts[i] + parts[i + 1])] ?? -Infinity;
    const scores = parts.map((_, i) => score(i)); // of joining each part with the next
    for (;;) {
      let best = 0;
      for (let i = 1; i < scores.length; i++) if (scores[i] > scores[best]) best = i;
      if (!(scores[best] > -Infinity)) return parts;
      parts.splice(best, 2, parts[best] + parts[best + 1]);
      scores.splice(best, 1);
      scores[best] = score(best);
      if (best) scores[best - 1] = score(best - 1);
    }
  }

  /** Unigram: the subwords whose log-probabilities have the largest sum (Viterbi). */
  mostLikely(characters) {
    const unknown = this.scores.reduce((a, b) => Math.min(a, b)) - 10;
    const best = [{ score: 0 }, ...characters.map(() => ({ score: -Infinity }))];
    characters.forEach((_, start) => {
      for (let end = start + 1; end <= Math.min(start + 16, characters.length); end++) {
        const token = characters.slice(start, end).join(""), id = this.ids.get(token);
        if (id === undefined && end > start + 1) continue;
        const score = Math.fround(best[start].score + (this.scores[id] ?? unknown));
        if (score > best[end].score) best[end] = { score, token, start };
      }
    });
    const parts = [];
    for (let end = characters.length; end; end = best[end].start) parts.unshift(best[end].token);
    return parts;
  }

  decode(ids) {
    const words = ids.filter((id) => id === UNK || id > EOS);
    const tokens = words.map((id) => (id === UNK ? " ⁇ " : this.tokens[id]));
    return tokens.join("").replace(/^▁+/, "").replaceAll("▁", " ");
  }
}

/** Words: split at spaces, or about as spaCy's rules split English, French and German. */
export class WordTokenizer {
  constructor(fields) {
    Object.assign(this, fields); // kind, lang, lowercase, tokens
    this.ids = new Map(this.tokens.map((token, id) => [token, id]));
  }

  tokenize(text) {
    const words = (this.lowercase ? text.toLowerCase() : text).split(SPACES).filter(Boolean);
    const parts = this.kind === "spacy" ? words.flatMap((word) => this.split(word)) : words;
    return parts.map((token) => {
      const id = this.ids.get(token) ?? UNK;
      return { id: id > EOS ? id : UNK, token }; // "<eos>" in a text is a word
    });
  }

  /** Cuts punctuation and clitics off; spaCy also knows abbreviations, numbers, links. */
  split(word) {
    const [, before, middle, after] = /^(\p{P}*)(.*?)(\p{P}*)$/u.exec(word);
    const cut = { en: /(?=n['’]t$)|(?=['’]\p{L}+$)|(-)/u, fr: /(?<=['’])|(-)/u }[this.lang];
    const inside = this.tokens.includes(middle) || !cut ? [middle] : middle.split(cut);
    return [...before, ...inside, ...after].filter(Boolean);
  }

  /** Words as they are written: no spaces around punctuation. */
  decode(ids) {
    const text = ids.filter((id) => id === UNK || id > EOS).map((id) => this.tokens[id]).join(" ");
    if (this.kind !== "spacy") return text;
    const [before, after] = GLUE[this.lang];
    const joined = text.replace(RegExp(` (${before})`, "giu"), "$1")
      .replace(RegExp(`(${after}) `, "giu"), "$1").replace(/" ([^"]*?) ?"/g, '"$1"');
    return this.lang === "de" ? joined : joined.replace(/([\p{L}\p{N}_]) - (?=[\p{L}\p{N}_])/gu, "$1-");
  }
}

// What is written without a space before it, and after it.
const GLUE = {
  en: [String.raw`[.,!?;:)\]%…”]|(?:n['’]t|['’](?:s|m|re|ve|ll|d)?)(?= |$)`, String.raw`[(\[“]`],
  de: [String.raw`[.,!?;:)\]…“”]`, String.raw`[(\[„]`],
  fr: [String.raw`[.,)\]…”]|-[\p{L}\p{N}_]`, String.raw`[(\[“]|[\p{L}\p{N}_]['’](?= [\p{L}\p{N}_])`],
};

// ---------------------------------------------------------------- the files

const UTF8 = new TextDecoder();

/** safetensors: the length of a header, the header as JSON, the numbers. */
function readFile(buffer) {
  const size = 8 + Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__: metadata, ...tensors } =
    JSON.parse(UTF8.decode(new Uint8Array(buffer, 8, size - 8)));
  const weights = {};
  for (const [name, { dtype, shape, data_offsets: [start, end] }] of Object.entries(tensors)) {
    if (size + end > buffer.byteLength) throw new Error("the model file is cut off");
    if (!name.startsWith("model.")) continue;
    const data = NUMBERS[dtype](buffer.slice(size + start, size + end));
    weights[name.slice("model.".length)] = { data, shape };
  }
  return { metadata, weights };
}

const NUMBERS = { // to float32
  F32: (bytes) => new Float32Array(bytes),
  BF16: (bytes) => new Float32Array(Uint32Array.from(new Uint16Array(bytes), (n) => n << 16).buffer),
  F16: (bytes) => Float32Array.from(new Uint16Array(bytes), (n) => {
    const sign = n & 0x8000 ? -1 : 1, exponent = (n >> 10) & 31, fraction = n & 1023;
    return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
  }),
};

/** The fields of a protocol buffer: [number, integer, float or bytes]. */
function* protobuf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const integer = () => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = integer(), kind = key & 7;
    const size = kind === 0 ? 0 : kind === 1 ? 8 : kind === 2 ? integer() : 4;
    const value = kind === 0 ? integer()
      : kind === 5 ? view.getFloat32(at, true) : bytes.subarray(at, at + size);
    at += size;
    yield [key >>> 3, value];
  }
}
