// What a Transformer computes, each operation with its gradient. A tensor is {data,
// grad, shape}: its numbers, row by row, and the gradient of the loss with respect to
// them. Sentences of a batch lie one behind the other, without padding: NS and NT count
// the source and target tokens of all sentences, and N is either. D is d_model, H
// n_heads, V the size of the target vocabulary.

/** What an operation works with where nothing is learnt: no tensor has a gradient. */
export class Plain {
  constructor({ multiply = multiplyAdd, keep } = {}) {
    this.multiply = multiply;
    this.keep = keep ?? this.zeros; // zeros that stay as long as the model
  }

  zeros(n) {
    return new Float32Array(n);
  }

  tensor(...shape) {
    return { shape, data: this.zeros(size(shape)) };
  }

  /** Wᵀ, computed once. */
  transposed(W) {
    return (W.transposed ??= transpose(W, this.keep(W.data.length)));
  }

  record() {}
}

/** Memory for numbers, and a record of what was computed, to go back through it. */
export class Tape extends Plain {
  constructor({ memory = new ArrayBuffer(2 ** 26), multiply } = {}) {
    super({ multiply });
    Object.assign(this, { floats: new Float32Array(memory), used: 0 });
    this.steps = []; // of the chain rule
  }

  /** n zeros. */
  zeros(n) {
    const start = this.used;
    this.used += (n + 3) & ~3; // each begins at a multiple of 16 bytes
    if (this.used > this.floats.length) throw new Error("this model needs more memory");
    return this.floats.subarray(start, start + n);
  }

  tensor(...shape) {
    const n = size(shape); // an object that is spread would be slower to read
    return { shape, data: this.zeros(n), grad: this.zeros(n) };
  }

  transposed(W) { // W changes with each update
    return transpose(W, this.zeros(W.data.length));
  }

  record(step) {
    this.steps.push(step);
  }

  /** Each operation adds to the gradients of what it read, the last operation first. */
  backward() {
    while (this.steps.length) this.steps.pop()();
  }

  /** Forgets what was computed after the first `start` numbers. */
  reset(start) {
    this.floats.fill(0, start, this.used);
    this.used = start;
    this.steps.length = 0;
  }
}

const size = (shape) => shape.reduce((a, b) => a * b);

function transpose({ data, shape: [rows, columns] }, into) {
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) into[c * rows + r] = data[r * columns + c];
  return into; // (columns, rows)
}

/** C += A B for A (M, K), B (K, N) and C (M, N). In A, the number below is `down`
 * further on, and the next number of a row `right`, so a transposed A needs no copy.
 * train_kernel.js does the same, and faster. */
export function multiplyAdd(C, A, B, M, N, K, down, right) {
  for (let m = 0; m < M; m++) {
    for (let k = 0; k < K; k++) {
      const factor = A[m * down + k * right];
      for (let n = 0, b = k * N, c = m * N; n < N; n++) C[c + n] += factor * B[b + n];
    }
  }
}

/** Ids to vectors: a row of W (rows, D) times a factor, plus the row of `positions`
 * (length, D) for the id's position in its sentence (sections 3.4 and 3.5). */
export function embed(tape, W, { ids, places }, factor, positions) {
  const [, D] = W.shape, y = tape.tensor(ids.length, D);
  ids.forEach((id, row) => {
    const to = row * D, from = id * D, place = places[row] * D;
    for (let i = 0; i < D; i++)
      y.data[to + i] = W.data[from + i] * factor + (positions?.[place + i] ?? 0);
  });
  tape.record(() => ids.forEach((id, row) => {
    for (let i = 0; i < D; i++) W.grad[id * D + i] += factor * y.grad[row * D + i];
  }));
  return y; // (N, D)
}

/** x Wᵀ + b for x (N, columns of W). */
export function linear(tape, x, W, b) {
  const [rows, columns] = W.shape, [N] = x.shape, y = tape.tensor(N, rows);
  if (b) for (let row = 0; row < N; row++) y.data.set(b.data, row * rows);
  tape.multiply(y.data, x.data, tape.transposed(W), N, rows, columns, columns, 1);
  tape.record(() => {
    tape.multiply(x.grad, y.grad, W.data, N, columns, rows, rows, 1); // dy W
    tape.multiply(W.grad, y.grad, x.data, rows, columns, N, 1, rows); // dyᵀ x
    const { grad: dy } = y, db = b?.grad;
    for (let i = 0; db && i < dy.length; i += rows)
      for (let r = 0; r < rows; r++) db[r] += dy[i + r];
  });
  return y; // (N, rows of W)
}

/** ReLU, in place: nothing else reads x. */
export function relu(tape, x) {
  const { data, grad } = x;
  for (let i = 0; i < data.length; i++) if (data[i] < 0) data[i] = 0;
  tape.record(() => {
    for (let i = 0; i < data.length; i++) if (data[i] === 0) grad[i] = 0;
  });
  return x;
}

/** The residual connection, in place: y, which nothing else reads, becomes y + x. The
 * gradient of a sum goes to both of its parts. */
export function add(tape, y, x) {
  const { data, grad } = y, { data: X, grad: dX } = x;
  for (let i = 0; i < data.length; i++) data[i] += X[i];
  tape.record(() => {
    for (let i = 0; i < grad.length; i++) dX[i] += grad[i];
  });
  return y;
}

/** Layer norm: each row with mean 0 and variance 1, times a gain, plus a bias. */
export function norm(tape, x, gain, bias) {
  const [N, D] = x.shape, y = tape.tensor(N, D), { data: X, grad: dX } = x;
  const { data: Y, grad: dY } = y, { data: g, grad: dg } = gain;
  const Z = tape.zeros(N * D), factors = tape.zeros(N); // Z: before gain and bias
  for (let row = 0; row < N; row++) {
    const from = row * D, end = from + D;
    let mean = 0, squares = 0;
    for (let i = from; i < end; i++) mean += X[i] / D;
    for (let i = from; i < end; i++) squares += (X[i] - mean) ** 2;
    const factor = 1 / Math.sqrt(squares / D + 1e-5);
    factors[row] = factor;
    for (let i = from, j = 0; i < end; i++, j++) {
      Z[i] = (X[i] - mean) * factor;
      Y[i] = Z[i] * g[j] + (bias?.data[j] ?? 0);
    }
  }
  tape.record(() => {
    for (let row = 0; row < N; row++) {
      const from = row * D, end = from + D;
      let mean = 0, along = 0; // of the gradient, and of its part along Z
      for (let i = from, j = 0; i < end; i++, j++) {
        dg[j] += dY[i] * Z[i];
        if (bias) bias.grad[j] += dY[i];
        mean += dY[i] * g[j] / D;
        along += dY[i] * g[j] * Z[i] / D;
      }
      for (let i = from, j = 0; i < end; i++, j++)
        dX[i] += (dY[i] * g[j] - mean - Z[i] * along) * factors[row];
    }
  });
  return y; // (N, D)
}

/** softmax(scale · Q Kᵀ) V in each head, each sentence for itself (equation 1): (NT,
 * H · d_v); and its weights, those of each head query by query. A query sees no other
 * sentence, if `causal` no later token, and no column s for which `hidden(head, s)`. */
export function attend(tape, Q, K, V, tgt, src, { H, scale, causal, hidden }) {
  const [NT, D] = Q.shape, [, D_v] = V.shape, d_k = D / H, d_v = D_v / H;
  const y = tape.tensor(NT, D_v);
  const rows = []; // {head, q, k, v, to: where its numbers begin, weights}
  const slopes = []; // gradients of a row's weights
  for (let b = 0; b + 1 < tgt.starts.length; b++) {
    const first = src.starts[b], end = src.starts[b + 1];
    for (let head = 0; head < H; head++) {
      const i = head * d_k, j = head * d_v, k = first * D + i, v = first * D_v + j;
      for (let t = tgt.starts[b]; t < tgt.starts[b + 1]; t++) {
        const weights = tape.zeros((causal ? t + 1 : end) - first); // (S,)
        rows.push({ head, q: t * D + i, k, v, to: t * D_v + j, weights });
      }
    }
  }
  for (const row of rows) look(row, Q.data, K.data, V.data, y.data);
  tape.record(() => {
    for (const row of rows) lookBack(row, y.grad);
  });

  function look({ head, q, k, v, to, weights }, Q, K, V, Y) {
    for (let s = 0; s < weights.length; s++, k += D) {
      let score = 0;
      for (let i = 0; i < d_k; i++) score += Q[q + i] * K[k + i];
      weights[s] = hidden?.(head, s) ? -Infinity : score * scale;
    }
    softmax(weights);
    for (let s = 0; s < weights.length; s++, v += D_v) {
      const weight = weights[s];
      for (let i = 0; i < d_v; i++) Y[to + i] += weight * V[v + i];
    }
  }
  function lookBack({ q, k, v, to, weights }, dY) {
    let mean = 0;
    for (let s = 0; s < weights.length; s++, v += D_v) {
      slopes[s] = 0;
      for (let i = 0; i < d_v; i++) {
        slopes[s] += dY[to + i] * V.data[v + i];
        V.grad[v + i] += weights[s] * dY[to + i];
      }
      mean += weights[s] * slopes[s];
    }
    for (let s = 0; s < weights.length; s++, k += D) {
      const slope = weights[s] * (slopes[s] - mean) * scale; // of the dot product
      for (let i = 0; i < d_k; i++) {
        Q.grad[q + i] += slope * K.data[k + i];
        K.grad[k + i] += slope * Q.data[q + i];
      }
    }
  }
  return [y, rows.map(({ weights }) => weights)];
}

/** Scores to weights that sum to 1, in place; all are 0 where every score is −∞. */
export function softmax(scores) {
  let top = -1e30, total = 0;
  for (let i = 0; i < scores.length; i++) top = Math.max(top, scores[i]);
  for (let i = 0; i < scores.length; i++)
    total += scores[i] = Math.exp(scores[i] - top);
  for (let i = 0; i < scores.length; i++) scores[i] /= total || 1;
  return scores;
}

/** The mean loss of a token. The goal of the right token is 1 − ε, and ε is spread over
 * the vocabulary (section 5.4). The gradient is p − goal: it goes to `logits.grad`. */
export function crossEntropy({ shape: [NT, V], data, grad }, ids, epsilon) {
  let sum = 0;
  for (let row = 0; row < NT; row++) {
    const from = row * V, end = from + V, right = from + ids[row];
    let top = -Infinity, total = 0, scores = 0;
    for (let i = from; i < end; i++) {
      if (data[i] > top) top = data[i];
      scores += data[i];
    }
    for (let i = from; i < end; i++) total += grad[i] = Math.exp(data[i] - top);
    sum += top + Math.log(total) - (1 - epsilon) * data[right] - epsilon / V * scores;
    for (let i = from; i < end; i++) grad[i] = (grad[i] / total - epsilon / V) / NT;
    grad[right] -= (1 - epsilon) / NT;
  }
  return sum / NT;
}
