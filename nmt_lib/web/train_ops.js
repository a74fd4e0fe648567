// What a Transformer computes, each operation with its gradient. A tensor is {data,
// grad, shape}: its numbers, row by row, and the gradient of the loss with respect to
// them. Sentences of a batch lie one behind the other, without padding: NS and NT count
// the source and target tokens of all sentences, and N is either. D is d_model, H
// n_heads, V the size of the target vocabulary.

/** Memory for numbers, and a record of what was computed, to go back through it. */
export class Tape {
  constructor({ memory = new ArrayBuffer(2 ** 26), multiply = multiplyAdd } = {}) {
    Object.assign(this, { floats: new Float32Array(memory), multiply, used: 0 });
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
    const n = shape.reduce((a, b) => a * b);
    return { shape, data: this.zeros(n), grad: this.zeros(n) };
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

/** C += A B for A (M, K), B (K, N) and C (M, N). In A, the number below is `down`
 * further on, and the next number of a row `right`, so a transposed A needs no copy. */
export function multiplyAdd(C, A, B, M, N, K, down, right) {
  const wholeM = M - (M % 4), wholeN = N - (N % 2);
  for (let m = 0; m < wholeM; m += 4) {
    for (let n = 0; n < wholeN; n += 2) { // 4 × 2 sums at once: fewer numbers are read
      let c00 = 0, c01 = 0, c10 = 0, c11 = 0, c20 = 0, c21 = 0, c30 = 0, c31 = 0;
      for (let k = 0, a = m * down, b = n; k < K; k++, a += right, b += N) {
        const b0 = B[b], b1 = B[b + 1], a0 = A[a], a1 = A[a + down];
        const a2 = A[a + 2 * down], a3 = A[a + 3 * down];
        c00 += a0 * b0, c01 += a0 * b1, c10 += a1 * b0, c11 += a1 * b1;
        c20 += a2 * b0, c21 += a2 * b1, c30 += a3 * b0, c31 += a3 * b1;
      }
      const c = m * N + n, c2 = c + 2 * N;
      C[c] += c00, C[c + 1] += c01, C[c + N] += c10, C[c + N + 1] += c11;
      C[c2] += c20, C[c2 + 1] += c21, C[c2 + N] += c30, C[c2 + N + 1] += c31;
    }
  }
  for (let m = 0; m < M; m++) { // what is left at the edges
    for (let n = m < wholeM ? wholeN : 0; n < N; n++) {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += A[m * down + k * right] * B[k * N + n];
      C[m * N + n] += sum;
    }
  }
}

/** Ids to vectors: a row of W (rows, D) times a factor, plus the row of `positions`
 * (length, D) for the id's position in its sentence (sections 3.4 and 3.5). */
export function embed(tape, W, { ids, starts }, factor, positions) {
  const [, D] = W.shape, y = tape.tensor(ids.length, D);
  for (let b = 0; b + 1 < starts.length; b++) {
    for (let row = starts[b]; row < starts[b + 1]; row++) {
      const to = row * D, from = ids[row] * D, place = (row - starts[b]) * D;
      for (let i = 0; i < D; i++)
        y.data[to + i] = W.data[from + i] * factor + (positions?.[place + i] ?? 0);
    }
  }
  tape.steps.push(() => ids.forEach((id, row) => {
    for (let i = 0; i < D; i++) W.grad[id * D + i] += factor * y.grad[row * D + i];
  }));
  return y; // (N, D)
}

/** x Wᵀ + b for x (N, columns of W). */
export function linear(tape, x, W, b) {
  const [rows, columns] = W.shape, [N] = x.shape, y = tape.tensor(N, rows);
  const transposed = tape.zeros(columns * rows); // (columns, rows)
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++)
      transposed[c * rows + r] = W.data[r * columns + c];
  if (b) for (let row = 0; row < N; row++) y.data.set(b.data, row * rows);
  tape.multiply(y.data, x.data, transposed, N, rows, columns, columns, 1);
  tape.steps.push(() => {
    tape.multiply(x.grad, y.grad, W.data, N, columns, rows, rows, 1); // dy W
    tape.multiply(W.grad, y.grad, x.data, rows, columns, N, 1, rows); // dyᵀ x
    const { grad: dy } = y, db = b?.grad;
    for (let i = 0; db && i < dy.length; i += rows)
      for (let r = 0; r < rows; r++) db[r] += dy[i + r];
  });
  return y; // (N, rows of W)
}

export function relu(tape, x) {
  const y = tape.tensor(...x.shape), { data: X, grad: dX } = x;
  const { data: Y, grad: dY } = y;
  for (let i = 0; i < X.length; i++) Y[i] = X[i] > 0 ? X[i] : 0;
  tape.steps.push(() => {
    for (let i = 0; i < X.length; i++) if (X[i] > 0) dX[i] += dY[i];
  });
  return y;
}

/** The residual connection: the gradient of a sum goes to both of its parts. */
export function add(tape, x, y) {
  const sum = tape.tensor(...x.shape), { data: S, grad: dS } = sum;
  const { data: X, grad: dX } = x, { data: Y, grad: dY } = y;
  for (let i = 0; i < S.length; i++) S[i] = X[i] + Y[i];
  tape.steps.push(() => {
    for (let i = 0; i < S.length; i++) {
      dX[i] += dS[i];
      dY[i] += dS[i];
    }
  });
  return sum;
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
  tape.steps.push(() => {
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

/** softmax(scale · Q Kᵀ) V in each head, each sentence for itself (equation 1). A query
 * sees no other sentence and, if `causal`, no later token: that is all masks do. */
export function attend(tape, Q, K, V, tgt, src, { H, scale, causal }) {
  const [NT, D] = Q.shape, d_k = D / H, y = tape.tensor(NT, D);
  const rows = []; // of each head and query: where query and keys begin; how many keys
  let total = 0;
  for (let b = 0; b + 1 < tgt.starts.length; b++) {
    const first = src.starts[b], end = src.starts[b + 1];
    for (let i = 0; i < D; i += d_k) { // where a head begins
      for (let t = tgt.starts[b]; t < tgt.starts[b + 1]; t++) {
        const S = (causal ? t + 1 : end) - first;
        rows.push(t * D + i, first * D + i, S);
        total += S;
      }
    }
  }
  const weights = tape.zeros(total); // (H · NT rows, each of its own length)
  attendForward(rows, Q.data, K.data, V.data, weights, y.data, scale, D, d_k);
  tape.steps.push(() => attendBackward(rows, Q, K, V, weights, y.grad, scale, D, d_k));
  return y; // (NT, D)
}

function attendForward(rows, Q, K, V, weights, Y, scale, D, d_k) {
  for (let n = 0, a = 0; n < rows.length; n += 3) {
    const q = rows[n], first = rows[n + 1], end = a + rows[n + 2];
    let top = -Infinity, sum = 0;
    for (let s = a, k = first; s < end; s++, k += D) {
      let score = 0;
      for (let i = 0; i < d_k; i++) score += Q[q + i] * K[k + i];
      weights[s] = score * scale;
      if (weights[s] > top) top = weights[s];
    }
    for (let s = a; s < end; s++) sum += weights[s] = Math.exp(weights[s] - top);
    for (let s = a, v = first; s < end; s++, v += D) {
      const weight = weights[s] /= sum;
      for (let i = 0; i < d_k; i++) Y[q + i] += weight * V[v + i];
    }
    a = end;
  }
}

function attendBackward(rows, { data: Q, grad: dQ }, { data: K, grad: dK }, values,
  weights, dY, scale, D, d_k) {
  const { data: V, grad: dV } = values, slopes = []; // slopes: gradients of the weights
  for (let n = 0, a = 0; n < rows.length; n += 3) {
    const q = rows[n], first = rows[n + 1], S = rows[n + 2];
    let mean = 0;
    for (let s = 0, v = first; s < S; s++, v += D) {
      const weight = weights[a + s];
      let slope = 0;
      for (let i = 0; i < d_k; i++) {
        slope += dY[q + i] * V[v + i];
        dV[v + i] += weight * dY[q + i];
      }
      slopes[s] = slope;
      mean += weight * slope;
    }
    for (let s = 0, k = first; s < S; s++, k += D) {
      const slope = weights[a + s] * (slopes[s] - mean) * scale; // of the dot product
      for (let i = 0; i < d_k; i++) {
        dQ[q + i] += slope * K[k + i];
        dK[k + i] += slope * Q[q + i];
      }
    }
    a += S;
  }
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
