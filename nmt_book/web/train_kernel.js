// `multiplyAdd` of train_ops.js in WebAssembly, four numbers at once (SIMD): it takes
// most of the time. The program is put together byte by byte, so that nothing is hidden
// in it.

import { Plain, Tape } from "./train_ops.js";

// The instructions.
const I32 = 0x7f, F32 = 0x7d, V128 = 0x7b; // types
const get = (i) => [0x20, i], set = (i) => [0x21, i];
const number = (i) => [0x41, i]; // below 64: one byte
const add = 0x6a, times = 0x6c, isAbove = 0x4b;
const advance = (i, by) => [get(i), by, add, set(i)];
const at = (offset) => [2, offset]; // 2: addresses are multiples of 2² bytes
const until = (done, inside) => // a loop that ends when `done`
  [0x02, 0x40, 0x03, 0x40, done, 0x0d, 1, inside, 0x0c, 0, 0x0b, 0x0b];
// Four numbers at once, and one: how to read, write, add and multiply.
const FOUR = {
  read: [0xfd, 0x00], readA: [0xfd, 0x09], write: [0xfd, 0x0b], // readA: four times
  add: [0xfd, 0xe4, 0x01], times: [0xfd, 0xe6, 0x01],
};
const ONE = { read: 0x2a, readA: 0x2a, write: 0x38, add: 0x92, times: 0x94 };

const each = (count, make) => Array.from({ length: count }, (_, i) => make(i));

function leb(value) { // an unsigned integer, seven bits a byte
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}
const sized = (...inside) => {
  const bytes = inside.flat(Infinity);
  return [leb(bytes.length), bytes];
};
const text = (letters) => sized(...new TextEncoder().encode(letters));

// Letters are those of `multiplyAdd`; sizes and steps are in bytes, 4 a number.
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
    [number(0), set(k)],
    until([get(k), number(1), add, get(K), isAbove], [
      each(parts, (i) => [get(b), kind.read, at(16 * i), set(B_(i))]),
      [get(a), set(p)],
      inRows(DOWN, (r) => [
        [get(p), kind.readA, at(0), set(A_)],
        each(parts, (i) =>
          [get(sum(r, i)), get(A_), get(B_(i)), kind.times, kind.add, set(sum(r, i))]),
      ]),
      [advance(a, get(RIGHT)), advance(b, get(ROW)), advance(k, number(1))],
    ]),
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
  const variables = [3, [6, I32], [11, V128], [11, F32]]; // numbered from 8 on
  const code = Uint8Array.from([
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    [1, sized(1, 0x60, sized(each(8, () => I32)), 0)], // one type: takes 8 integers
    [2, sized(1, text("page"), text("memory"), 2, 0, 1)], // imports
    [3, sized(1, 0)], // one function, of the first type
    [7, sized(1, text("run"), 0, 0)], // exports
    [10, sized(1, sized(variables, program(), 0x0b))],
  ].flat(Infinity));
  const pages = Math.ceil(bytes / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { instance } = await WebAssembly.instantiate(code, { page: { memory } });
  const multiply = (C, A, B, M, N, K, down, right) => instance.exports.run(
    C.byteOffset, A.byteOffset, B.byteOffset, M, 4 * N, K, 4 * down, 4 * right);
  return { memory: memory.buffer, multiply };
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
