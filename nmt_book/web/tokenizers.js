// nmt_lib's tokenizers in a browser: text to ids and back, as in
// nmt_lib/data/tokenizers.py.

export const PAD = 0, UNK = 1, SOS = 2, EOS = 3;
// eslint-disable-next-line no-control-regex -- Python's, too
const SPACES = /[\s\x1c-\x1f\x85]+/u; // as Python's str.split()
const isWord = (id) => id === UNK || id > EOS;

/** The tokenizer that a model file holds, as JSON. */
export async function makeTokenizer(text) {
  const fields = JSON.parse(text);
  if (fields.tokens) return new WordTokenizer(fields);
  const zipped = Uint8Array.from(atob(fields.model), (letter) => letter.charCodeAt(0));
  return new SentencePieceTokenizer(fields, await inflate(zipped, 10 * zipped.length));
}

/** Unzips at most so many bytes. */
async function inflate(zipped, most) {
  const unzip = new DecompressionStream("deflate"), parts = [];
  const reader = new Blob([zipped]).stream().pipeThrough(unzip).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    most -= part.value.length;
    if (most < 0) throw new Error("its SentencePiece model is far too large");
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Subwords: SentencePiece's BPE or unigram model. */
class SentencePieceTokenizer {
  constructor({ kind, lowercase }, model) {
    Object.assign(this, { kind, lowercase, tokens: [], scores: [], ids: new Map() });
    for (const [field, content] of protobuf(model)) {
      if (field !== 1 && field !== 3) continue; // a subword, or how to normalise texts
      const { 1: name, 2: value, 3: type = 1 } = Object.fromEntries(protobuf(content));
      if (field === 3) {
        if (!(value?.length > 4)) continue; // "identity": there are no rules
        const size = new DataView(value.buffer, value.byteOffset).getUint32(0, true);
        this.trie = new Uint32Array(value.slice(4, 4 + size).buffer);
        this.replacements = value.slice(4 + size);
        continue;
      }
      const token = UTF8.decode(name);
      if (type === 1) this.ids.set(token, this.tokens.length); // not a special token
      this.tokens.push(token);
      this.scores.push(value);
    }
  }

  /** The text with ligatures, full-width letters and the like replaced, spaces as ▁. */
  normalize(text) {
    const bytes = new TextEncoder().encode(text);
    let out = "";
    for (let i = 0, end; i < bytes.length; i = end) {
      const rule = this.longestRule(bytes, i);
      end = rule?.end ?? i + 1;
      while ((bytes[end] & 0xc0) === 0x80) end++; // to the end of the character
      out += UTF8.decode(rule?.replacement ?? bytes.subarray(i, end));
    }
    out = out.replace(/^ +| +$/g, "").replace(/ +/g, "▁");
    return out && `▁${out}`.replace(/▁+$/, "");
  }

  /** The longest rule for the bytes from i on: a path through a double-array trie. */
  longestRule(bytes, i) {
    if (!this.trie) return undefined;
    const below = (unit) => (unit >>> 10) << ((unit & 512) >>> 6);
    let rule, node = below(this.trie[0]);
    for (let at = i; at < bytes.length; at++) {
      const unit = this.trie[node ^= bytes[at]];
      if ((unit & 0x800000ff) !== bytes[at]) break;
      node ^= below(unit);
      if (unit & 256) rule = { end: at + 1, start: this.trie[node] & 0x7fffffff };
    }
    if (!rule) return undefined;
    const stop = this.replacements.indexOf(0, rule.start);
    return { end: rule.end, replacement: this.replacements.subarray(rule.start, stop) };
  }

  /** A text to its subwords; neighbours that are unknown become one. */
  tokenize(text) {
    const letters = [...this.normalize(this.lowercase ? text.toLowerCase() : text)];
    const parts = this.kind === "bpe" ? this.merge(letters) : this.split(letters);
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
    const scoreOf = (i) =>
      this.scores[this.ids.get(parts[i] + parts[i + 1])] ?? -Infinity;
    const scores = parts.map((_, i) => scoreOf(i)); // of each part with the next one
    for (;;) {
      let best = 0;
      for (let i = 1; i < scores.length; i++) if (scores[i] > scores[best]) best = i;
      if (!(scores[best] > -Infinity)) return parts;
      parts.splice(best, 2, parts[best] + parts[best + 1]);
      scores.splice(best, 1);
      for (const i of [best - 1, best]) if (i >= 0) scores[i] = scoreOf(i);
    }
  }

  /** Unigram: the subwords whose log-probabilities have the largest sum (Viterbi). */
  split(letters) {
    const unknown = this.scores.reduce((a, b) => Math.min(a, b)) - 10;
    const best = [{ score: 0 }, ...letters.map(() => ({ score: -Infinity }))];
    letters.forEach((_, start) => {
      for (let end = start + 1; end <= Math.min(start + 16, letters.length); end++) {
        const token = letters.slice(start, end).join(""), id = this.ids.get(token);
        if (id === undefined && end > start + 1) continue;
        const score = Math.fround(best[start].score + (this.scores[id] ?? unknown));
        if (score > best[end].score) best[end] = { score, token, start };
      }
    });
    const parts = [];
    for (let i = letters.length; i; i = best[i].start) parts.unshift(best[i].token);
    return parts;
  }

  decode(ids) {
    const nameOf = (id) => (id === UNK ? " ⁇ " : this.tokens[id]);
    const text = ids.filter(isWord).map(nameOf).join("");
    return text.replace(/^▁+/, "").replaceAll("▁", " ");
  }
}

/** Words: split at spaces, or nearly as spaCy's rules do. */
class WordTokenizer {
  constructor(fields) {
    Object.assign(this, fields); // kind, lang, lowercase, tokens
    this.ids = new Map(this.tokens.map((token, id) => [token, id]));
    if (this.kind === "spacy" && !Object.hasOwn(LANGUAGES, this.lang))
      throw new Error(`spaCy's rules of ${this.lang} are not here`);
  }

  tokenize(text) {
    const folded = this.lowercase ? text.toLowerCase() : text;
    const words = folded.split(SPACES).filter(Boolean);
    const spacy = this.kind === "spacy";
    return (spacy ? words.flatMap((word) => this.split(word)) : words).map((token) => {
      const id = this.ids.get(token) ?? UNK;
      return { id: isWord(id) ? id : UNK, token }; // "<eos>" in a text is a word
    });
  }

  /** Cuts off punctuation and clitics. spaCy's lists of abbreviations, units and web
   * addresses are not here. */
  split(word) {
    const [, before, middle, after] =
      /^([\p{P}\p{S}]*)(.*?)([\p{P}\p{S}]*)$/u.exec(word);
    const { cut } = LANGUAGES[this.lang];
    const inside = this.ids.has(middle) ? [middle] : middle.split(cut);
    const marks = (text) => text.match(/(.)\1*/gu) ?? []; // "..." is one
    return [...marks(before), ...inside, ...marks(after)].filter(Boolean);
  }

  /** Words as they are written, without spaces around punctuation. */
  decode(ids) {
    const text = ids.filter(isWord).map((id) => this.tokens[id]).join(" ");
    if (this.kind !== "spacy") return text;
    const { before, after, hyphen } = LANGUAGES[this.lang];
    return text.replace(before, "$1").replace(after, "$1")
      .replace(/" ([^"]*?) ?"/g, '"$1"').replace(hyphen, "$1-");
  }
}

const HYPHEN = /([\p{L}\p{N}_]) - (?=[\p{L}\p{N}_])/gu;
// Where a word is cut, and what is written without a space before, after or around it.
const LANGUAGES = {
  en: {
    cut: /(?=n['’]t$)|(?=['’](?!t$)\p{L}+$)|(-)/u,
    before: / ([.,!?;:)\]%…”]|(?:n['’]t|['’](?:s|m|re|ve|ll|d)?)(?= |$))/gi,
    after: /([([“]) /g, hyphen: HYPHEN,
  },
  de: { cut: /$^/, before: / ([.,!?;:)\]…“”])/g, after: /([([„]) /g, hyphen: /$^/ },
  fr: {
    cut: /(?<=['’])/u, before: / ([.,)\]…”]|-[\p{L}\p{N}_])/gu,
    after: /([([“]|[\p{L}\p{N}_]['’](?= [\p{L}\p{N}_])) /gu,
    hyphen: HYPHEN,
  },
};

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true }); // U+FEFF is a letter

/** The fields of a protocol buffer: [number, an integer, a float or bytes]. */
function* protobuf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const integer = () => { // seven bits at a time
    let value = 0, factor = 1;
    for (; bytes[at] > 127; factor *= 128) value += (bytes[at++] - 128) * factor;
    return value + bytes[at++] * factor;
  };
  while (at < bytes.length) {
    const key = integer(), kind = key & 7;
    if (kind === 0) {
      yield [key >>> 3, integer()];
      continue;
    }
    const size = kind === 2 ? integer() : kind === 5 ? 4 : 8, start = at;
    at += size;
    const content = bytes.subarray(start, at);
    yield [key >>> 3, kind === 5 ? view.getFloat32(start, true) : content];
  }
}
