// Reads and writes nmt_lib's model files (see nmt_lib/training/model_file.py):
// safetensors, with config and tokenizers in the metadata. What a file says of itself
// is not trusted: its digest and its sizes are compared with what is there, before
// anything is made of it.

const FORMAT = "1"; // the only one that is read
const DAMAGED = "it is damaged, or not a model file of nmt_lib";

/** What a whole file holds: metadata, and name → {dtype, shape, bytes}. */
export function readFile(buffer) {
  const [metadata, tensors, start] = attempt(() => {
    const utf8 = new TextDecoder("utf-8", { fatal: true });
    const start = 8 + Number(new DataView(buffer).getBigUint64(0, true));
    const header = utf8.decode(new Uint8Array(buffer, 8, start - 8));
    const { __metadata__: metadata = {}, ...tensors } = JSON.parse(header);
    return [metadata, Object.entries(tensors), start];
  });
  if (metadata.format !== FORMAT)
    throw new Error(/^\d+$/.test(metadata.format)
      ? "it was made by a newer nmt_lib than this page"
      : "it is not a model file of nmt_lib, or from before its release");
  return attempt(() => {
    const found = place(tensors, new Uint8Array(buffer, start));
    const fits = digest(metadata, found) === metadata.digest;
    if (!fits) throw new Error("its digest does not fit");
    return { metadata, tensors: Object.fromEntries(found) };
  });
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    throw new Error(`${DAMAGED} (${error.message})`);
  }
}

/** The tensors with their bytes, one behind the other without a gap, sorted by name. */
function place(tensors, data) {
  let at = 0;
  const ends = ([, { data_offsets: [start, end] }]) => start + end;
  const found = tensors.sort((a, b) => ends(a) - ends(b)).map(([name, tensor]) => {
    const { dtype, shape, data_offsets: [start, end] } = tensor;
    const size = shape.reduce((product, n) => product * n, DTYPES[dtype].size);
    if (start !== at || end - start !== size) throw new Error(`the size of ${name}`);
    at = end;
    return [name, { dtype, shape, bytes: data.subarray(start, end) }];
  });
  if (at !== data.length) throw new Error("its length");
  return found.sort(byName);
}

/** The file with this metadata and these weights, name → {data, shape}, in float32. */
export function writeFile(metadata, weights) {
  const tensors = Object.entries(weights).map(([name, { data, shape }]) => {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return [`model.${name}`, { dtype: "F32", shape, bytes }];
  }).sort(byName);
  const said = { format: FORMAT, ...metadata };
  const header = { __metadata__: { ...said, digest: digest(said, tensors) } };
  let at = 0;
  for (const [name, { dtype, shape, bytes }] of tensors) {
    const start = at;
    at += bytes.length;
    header[name] = { dtype, shape, data_offsets: [start, at] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const spaces = new Uint8Array(-text.length & 7).fill(32); // numbers begin at 8 · n
  const size = new DataView(new ArrayBuffer(8));
  size.setBigUint64(0, BigInt(text.length + spaces.length), true);
  return new Blob([size, text, spaces, ...tensors.map(([, { bytes }]) => bytes)]);
}

const byName = ([a], [b]) => (a < b ? -1 : 1);

/** As in Python: of the metadata, the kinds of all tensors, and their bytes. */
function digest({ digest: _, ...metadata }, tensors) {
  const kinds = tensors.map(([name, { dtype, shape }]) =>
    [name, DTYPES[dtype].name, shape]);
  const head = JSON.stringify([Object.entries(metadata).sort(byName), kinds]);
  let crc = crc32(new TextEncoder().encode(head), 0);
  for (const [, { bytes }] of tensors) crc = crc32(bytes, crc);
  return crc.toString(16).padStart(8, "0");
}

// The remainder of each byte, for `crc32`.
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = (n >>> 1) ^ (n & 1 ? 0xedb88320 : 0);
  return n;
});

/** zip's checksum, continued from `crc`, the one of what comes before. */
function crc32(bytes, crc) {
  let rest = ~crc;
  for (let i = 0; i < bytes.length; i++)
    rest = REMAINDERS[(rest ^ bytes[i]) & 255] ^ (rest >>> 8);
  return ~rest >>> 0;
}

/** The weights that a config asks for, name → {data, shape}; S and V are the sizes of
 * the vocabularies. One that is missing, or of another shape, is an error. */
export function readWeights(tensors, config, S, V) {
  const weights = {};
  for (const [name, ...shape] of shapes(config, S, V)) {
    const { dtype, bytes, shape: found } = tensors[`model.${name}`] ?? {};
    if (`${found}` !== `${shape}`) throw new Error(`no ${name} of shape ${shape}`);
    weights[name] = { data: DTYPES[dtype].read(bytes.slice().buffer), shape };
  }
  return weights;
}

/** Name and shape of each weight; a matrix that is used twice is in the file once. */
export function* shapes(config, S, V) {
  const { d_model: D, d_ff, n_heads: H, n_layers, norm, tying } = config;
  const d_v = config.d_value ?? D / H, finalNorm = config.final_norm ?? norm === "pre";
  const counts = { n_layers, n_decoder_layers: config.n_decoder_layers ?? n_layers,
    n_heads: H, "d_model / n_heads": D / H };
  for (const [name, count] of Object.entries(counts))
    if (!Number.isInteger(count) || count < 1) throw new Error(`${name} is ${count}`);
  function* linear(name, rows, columns) {
    yield [`${name}.weight`, rows, columns];
    if (config.bias) yield [`${name}.bias`, rows];
  }
  function* layerNorm(name) {
    yield [`${name}.weight`, D];
    if (config.norm_bias) yield [`${name}.bias`, D];
  }
  yield ["src_embedding.lookup.weight", S, D];
  if (tying !== "three-way") yield ["tgt_embedding.lookup.weight", V, D];
  if (tying === "none") yield ["output.weight", V, D];
  if (config.bias) yield ["output.bias", V];
  for (const [stack, n, ...parts] of [
    ["encoder", n_layers, ["self_attention", "attention"]],
    ["decoder", counts.n_decoder_layers, ["self_attention", "self_attention"],
      ["cross_attention", "cross_attention"]],
  ]) {
    for (let i = 0; i < n; i++) {
      const layer = `${stack}.layers.${i}`;
      for (const [part, around] of parts) {
        yield* linear(`${layer}.${part}.W_q`, D, D);
        yield* linear(`${layer}.${part}.W_k`, D, D);
        yield* linear(`${layer}.${part}.W_v`, H * d_v, D);
        yield* linear(`${layer}.${part}.W_o`, D, H * d_v);
        yield* layerNorm(`${layer}.around_${around}.norm`);
      }
      yield* linear(`${layer}.feed_forward.W_1`, d_ff, D);
      yield* linear(`${layer}.feed_forward.W_2`, D, d_ff);
      yield* layerNorm(`${layer}.around_feed_forward.norm`);
    }
    if (finalNorm) yield* layerNorm(`${stack}.norm`);
  }
}

// The number behind each of the 65,536 patterns of sixteen bits.
const HALF = Float32Array.from({ length: 65536 }, (_, bits) => {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, rest = bits & 1023;
  if (exponent === 31) return rest ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + rest) : 2 ** -24 * rest);
});

// safetensors' kinds of numbers: PyTorch's name, bytes a number, and how to read them.
const DTYPES = {
  F32: { name: "float32", size: 4, read: (bytes) => new Float32Array(bytes) },
  F16: {
    name: "float16", size: 2,
    read: (bytes) => new Float32Array(new Uint16Array(bytes)).map((bits) => HALF[bits]),
  },
  BF16: {
    name: "bfloat16", size: 2,
    read: (bytes) => new Float32Array(
      new Uint32Array(new Uint16Array(bytes)).map((bits) => bits << 16).buffer),
  },
  U8: { name: "uint8", size: 1 }, // random numbers' state, in a checkpoint
};
