// What the model computes for one word, station by station: embedding, attention of one
// head, feed-forward, logits. Nothing is kept: it is computed when it is asked for.

import { SOS } from "./tokenizers.js";

/** The numbers behind one word that is read and one that is written.
 *
 * `sourceIds` [S] and `ids` [T] are what the model has read and written, `place` and
 * `step` a position of each. `layer` and `head` choose an attention; a stack with fewer
 * layers shows its last. `closed` is that of `translate`. Vectors are Float32Arrays. */
export function look(translator, { sourceIds, ids, place, step, layer, head }, closed) {
  const { model } = translator, { config } = model, seen = new Map();
  const last = { encoder: config.n_layers - 1 };
  last.decoder = (config.n_decoder_layers ?? config.n_layers) - 1;
  const at = (stack) => `${stack}.layers.${Math.min(layer, last[stack])}`;
  const read = [SOS, ...ids].slice(0, step + 1); // what the decoder has read
  model.watch = (name, values) => seen.set(name, values); // the last step stays
  let p;
  try {
    const { caches } = model.encode(sourceIds, closed);
    let past = [];
    read.forEach((id, t) => {
      ({ own: past, p } = model.decode(id, t, past, caches, closed));
    });
  } finally {
    model.watch = null;
  }
  const attended = (kind, name, row) =>
    oneHead(config, seen.get(name), row, head, (column) =>
      Boolean(closed?.(kind, Number(name.split(".")[2]), head, column)));
  const fed = (name, row) => {
    const { hidden, y } = seen.get(`${name}.feed_forward`);
    const result = seen.get(`${name}.around_feed_forward`);
    return { hidden: hidden[row], y: y[row], result: result[row] };
  };
  const logits = seen.get("output");
  return {
    source: embedded(model, "src_embedding", sourceIds[place], place),
    encoder: attended("encoder", `${at("encoder")}.self_attention`, place),
    encoderFed: fed(at("encoder"), place),
    memory: seen.get("memory"), // (S, D)
    target: embedded(model, "tgt_embedding", read[step], step),
    decoder: attended("decoder", `${at("decoder")}.self_attention`, 0),
    cross: attended("cross", `${at("decoder")}.cross_attention`, 0),
    decoderFed: fed(at("decoder"), 0),
    output: best(logits, p, 8).map((id) =>
      ({ id, token: translator.tgtTokenizer.tokens[id], logit: logits[id], p: p[id] })),
  };
}

/** A query [d_k] and its keys (S, d_k); `products` q · k and `scores` [S], the products
 * divided by √d_k; the weights [S], the values (S, d_v), and their weighted sum. */
function oneHead({ n_heads: H, d_model: D, d_value }, seen, row, head, isHidden) {
  const d_k = D / H, d_v = d_value ?? d_k;
  const part = (width) => (x) => x.slice(head * width, (head + 1) * width);
  const query = part(d_k)(seen.queries[row]), keys = seen.keys.map(part(d_k));
  const products = keys.map((key) =>
    key.reduce((total, value, i) => total + value * query[i], 0));
  const scores = products.map((one, s) =>
    (isHidden(s) ? -Infinity : one / Math.sqrt(d_k)));
  const weights = seen.weights[head][row], values = seen.values.map(part(d_v));
  return { query, keys, products, scores, weights, values,
    sum: part(d_v)(seen.heads[row]) };
}

/** A token's vector, the vector of its position, and their sum: [D] each. */
function embedded(model, name, id, position) {
  const { data, shape: [, D] } = model.weights[`${name}.lookup.weight`];
  const factor = model.config.scale_embeddings ? Math.sqrt(D) : 1;
  const vector = data.slice(id * D, (id + 1) * D).map((value) => value * factor);
  const [sum] = model.embed(name, [id], position);
  return { vector, position: sum.map((value, i) => value - vector[i]), sum, factor };
}

/** The ids of the n largest logits that may be written, the largest first. */
function best(logits, p, n) {
  const ids = [...logits.keys()].filter((id) => p[id] > 0);
  return ids.sort((a, b) => logits[b] - logits[a]).slice(0, n);
}
