// `multiplyAdd` of train_ops.js in WebAssembly: it takes most of the time. Letters are
// those of `multiplyAdd`; sizes and steps are in bytes, 4 a number.

import { Plain, Tape } from "./train_ops.js";
import {
  add, advance, again, at, each, F32, FOUR, get, I32, isAbove, makeProgram, number, ONE,
  set, subtract, tee, times, until, V128,
} from "./wasm.js";

const [C, A, B, M, ROW, K, DOWN, RIGHT] = [0, 1, 2, 3, 4, 5, 6, 7]; // parameters
const [m, n, k, a, b, p] = [8, 9, 10, 11, 12, 13]; // variables; p: where a row begins

/** `rows` rows of C by `width` numbers: their sums stay in variables while k runs. */
function tile(rows, width) {
  const [kind, own] = width > 1 ? [FOUR, 14] : [ONE, 25], parts = Math.ceil(width / 4);
  const A_ = own, B_ = (i) => own + 1 + i, sum = (r, i) => own + 3 + 2 * r + i;
  const inRows = (step, make) =>
    each(rows, (r) => [make(r), r + 1 < rows ? advance(p, get(step)) : []]);
  const toC = [get(C), get(m), get(ROW), times, add, get(n), add, set(p)];
  return [
    toC,
    inRows(ROW, (r) => each(parts, (i) =>
      [get(p), kind.read, at(16 * i), set(sum(r, i))])),
    [get(A), get(m), get(DOWN), times, add, set(a), get(B), get(n), add, set(b)],
    [get(K), set(k)],
    again([
      each(parts, (i) => [get(b), kind.read, at(16 * i), set(B_(i))]),
      [get(a), set(p)],
      inRows(DOWN, (r) => [
        [get(p), kind.readA, at(0), set(A_)],
        each(parts, (i) =>
          [get(sum(r, i)), get(A_), get(B_(i)), kind.times, kind.add, set(sum(r, i))]),
      ]),
      [advance(a, get(RIGHT)), advance(b, get(ROW))],
    ], [get(k), number(1), subtract, tee(k)]), // until k is 0
    toC,
    inRows(ROW, (r) => each(parts, (i) =>
      [get(p), get(sum(r, i)), kind.write, at(16 * i)])),
    advance(n, number(4 * width)),
  ];
}

/** All columns of `rows` rows: as many as possible by eights, then fours, then ones. */
const columns = (rows) => [
  [number(0), set(n)],
  [8, 4, 1].map((width) =>
    until([get(n), number(4 * width), add, get(ROW), isAbove], tile(rows, width))),
  advance(m, number(rows)),
];

const program = () => [4, 1].map((rows) =>
  until([get(m), number(rows), add, get(M), isAbove], columns(rows)));

/** Memory for a Tape, and `multiply` for numbers in it. */
export async function makeKernel(bytes) {
  const variables = [[6, I32], [11, V128], [11, F32]];
  const { memory, run } = await makeProgram(bytes, 8, variables, program());
  const multiply = (C, A, B, M, N, K, down, right) =>
    run(C.byteOffset, A.byteOffset, B.byteOffset, M, 4 * N, K, 4 * down, 4 * right);
  return { memory, multiply };
}

/** A Plain with this `multiply`, for a translator: its matrices stay in memory, and
 * what they are multiplied with comes and goes, four rows at a time. */
export async function makePlain(weights) {
  const shapes = Object.values(weights).map(({ shape }) => shape);
  const most = 4 * Math.max(...shapes.flat());
  const floats = shapes.reduce((sum, [rows, columns = 0]) => sum + rows * columns + 4,
    2 * most);
  const { memory, multiply } = await makeKernel(4 * floats);
  const room = new Tape({ memory }), keep = (n) => room.zeros(n);
  const [a, c] = [keep(most), keep(most)];
  return new Plain({ keep, multiply(C, A, B, M, N, K) {
    for (let m = 0; m < M; m += 4) {
      const rows = Math.min(4, M - m), to = m * N, end = to + rows * N;
      a.set(A.subarray(m * K, (m + rows) * K));
      c.set(C.subarray(to, end));
      multiply(c, a, B, rows, N, K, K, 1);
      C.set(c.subarray(0, end - to), to);
    }
  } });
}
