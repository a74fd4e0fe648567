// What the model computes for one word, station by station: embedding, attention of one
// head, feed-forward, logits. Nothing is kept: it is computed when it is asked for.

import { PAD, SOS } from "./tokenizers.js";
import { softmax } from "./train_ops.js";
import { PARTS, sinusoids, tokensOf } from "./transformer.js";
import { largest } from "./translator.js";

/** The numbers behind one word that is read and one that is written.
 *
 * `sourceIds` [S] and `ids` [T] are what the model has read and written, `place` and
 * `step` a position of each. `layer` and `head` choose an attention; a stack with fewer
 * layers shows its last. `closed` is that of `translate`. Vectors are Float32Arrays. */
export function look(translator, { sourceIds, ids, place, step, layer, head }, closed) {
  const { model, tgtTokenizer } = translator, seen = {};
  const read = [SOS, ...ids].slice(0, step + 1); // what the decoder has read
  model.watch = (name, tensors, weights) => {
    const at = seen[name] ??= { weights };
    for (const [part, one] of Object.entries(tensors)) at[part] = rowsOf(one);
  };
  const batch = { src: tokensOf(sourceIds), tgtIn: tokensOf(read) };
  let logits;
  try {
    logits = rowsOf(model.forward(batch, { closed }))[step]; // [V]
  } finally {
    model.watch = null;
  }
  const p = softmax(logits.slice());
  logits[PAD] = logits[SOS] = -Infinity; // no translation holds them
  const at = (stack) => Math.min(layer, model.depths[stack] - 1);
  const attended = (kind, row) => {
    const [stack, part] = PARTS[kind], i = at(stack);
    return oneHead(model.config, seen[`${stack}.layers.${i}.${part}`], row, head,
      (column) => Boolean(closed?.(kind, i, head, column)));
  };
  const fed = (stack, row) => {
    const { hidden, y, result } = seen[`${stack}.layers.${at(stack)}.feed_forward`];
    return { hidden: hidden[row], y: y[row], result: result[row] };
  };
  return {
    source: embedded(model, "src_embedding", sourceIds[place], place),
    encoder: attended("encoder", place),
    encoderFed: fed("encoder", place),
    memory: seen.memory.memory, // (S, D)
    target: embedded(model, "tgt_embedding", read[step], step),
    decoder: attended("decoder", step),
    cross: attended("cross", step),
    decoderFed: fed("decoder", step),
    output: largest(logits, 8).map((id) =>
      ({ id, token: tgtTokenizer.tokens[id], logit: logits[id], p: p[id] })),
  };
}

const rowsOf = ({ data, shape: [n, D] }) =>
  Array.from({ length: n }, (_, i) => data.slice(i * D, (i + 1) * D));

/** A query [d_k] and its keys (S, d_k); `products` q · k and `scores` [S], the products
 * divided by √d_k; the weights [S], the values (S, d_v), and their weighted sum. */
function oneHead({ n_heads: H }, { Q, K, V, heads, weights }, row, head, isHidden) {
  const part = (x) => x.slice(head * x.length / H, (head + 1) * x.length / H);
  const query = part(Q[row]), keys = K.map(part);
  const products = keys.map((key) =>
    key.reduce((total, value, i) => total + value * query[i], 0));
  const scores = products.map((one, s) =>
    (isHidden(s) ? -Infinity : one / Math.sqrt(query.length)));
  return { query, keys, products, scores, weights: weights[head * Q.length + row],
    values: V.map(part), sum: part(heads[row]) };
}

/** A token's vector, the vector of its position, and their sum: [D] each. */
function embedded({ weights, factor }, name, id, at) {
  const { data, shape: [, D] } = weights[`${name}.lookup.weight`];
  const vector = data.slice(id * D, (id + 1) * D).map((value) => value * factor);
  const position = sinusoids(at, 1, D);
  return { vector, position, sum: vector.map((x, i) => x + position[i]), factor };
}
