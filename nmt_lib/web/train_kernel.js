// `multiplyAdd` of train_ops.js in WebAssembly, which multiplies four numbers at once
// (SIMD). The program is put together here, byte by byte, so that nothing is hidden in
// it. Letters are those of `multiplyAdd`; sizes and steps are in bytes, 4 a number.

import { multiplyAdd } from "./train_ops.js";

const I32 = 0x7f, V128 = 0x7b, EMPTY = 0x40; // types
const [C, A, B, M, ROW, K, DOWN, RIGHT] = [0, 1, 2, 3, 4, 5, 6, 7]; // parameters
const [m, n, k, a, b, p] = [8, 9, 10, 11, 12, 13]; // variables; p: where a row begins
const get = (i) => [0x20, i], set = (i) => [0x21, i], tee = (i) => [0x22, i];
const number = (i) => [0x41, i]; // below 64: one byte
const add = 0x6a, subtract = 0x6b, times = 0x6c, isAbove = 0x4b;
const advance = (i, by) => [get(i), by, add, set(i)];
const until = (done, inside) => // a loop that ends when `done`
  [0x02, EMPTY, 0x03, EMPTY, done, 0x0d, 1, inside, 0x0c, 0, 0x0b, 0x0b];
const FOUR = { // numbers; `copies` is one number, four times
  read: [0xfd, 0x00, 2, 0], copies: [0xfd, 0x09, 2, 0], write: [0xfd, 0x0b, 2, 0],
  add: [0xfd, 0xe4, 0x01], times: [0xfd, 0xe6, 0x01],
};
const [A4, B4, ...SUMS] = [14, 15, 16, 17, 18, 19]; // variables of four numbers each

/** Something for each of four rows, from the address on the stack on. */
const inRows = (step, make) => [set(p), SUMS.map((sum) => [make(sum), advance(p, step)])];

/** A tile of C, 4 × 4: its sums stay in variables while k runs. */
function tile() {
  const toC = [get(C), get(m), get(ROW), times, add, get(n), add];
  return [
    toC, inRows(get(ROW), (sum) => [get(p), FOUR.read, set(sum)]),
    [get(A), get(m), get(DOWN), times, add, set(a), get(B), get(n), add, set(b)],
    [get(K), set(k), 0x03, EMPTY],
    [get(b), FOUR.read, set(B4), get(a)],
    inRows(get(DOWN), (sum) => [
      [get(p), FOUR.copies, set(A4)],
      [get(sum), get(A4), get(B4), FOUR.times, FOUR.add, set(sum)],
    ]),
    [advance(a, get(RIGHT)), advance(b, get(ROW))],
    [get(k), number(1), subtract, tee(k), 0x0d, 0, 0x0b], // until k is 0
    toC, inRows(get(ROW), (sum) => [get(p), get(sum), FOUR.write]),
  ];
}

/** All whole tiles. */
const program = () => until([get(m), number(4), add, get(M), isAbove], [
  [number(0), set(n)],
  until([get(n), number(16), add, get(ROW), isAbove],
    [tile(), advance(n, number(16))]),
  advance(m, number(4)),
]);

function leb(value) { // an unsigned integer, seven bits a byte
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}
const sized = (...inside) => {
  const bytes = inside.flat(Infinity);
  return [leb(bytes.length), bytes];
};
const text = (letters) => sized(...new TextEncoder().encode(letters));

function code() {
  const variables = [[6, I32], [6, V128]], parameters = Array(8).fill(I32);
  return Uint8Array.from([
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    [1, sized(1, 0x60, sized(parameters), 0)], // one type: takes 8 integers
    [2, sized(1, text("page"), text("memory"), 2, 0, 1)], // imports
    [3, sized(1, 0)], // one function, of the first type
    [7, sized(1, text("multiply"), 0, 0)], // exports
    [10, sized(1, sized(variables.length, variables, program(), 0x0b))],
  ].flat(Infinity));
}

/** Memory for a Tape, and `multiply` for numbers in it. */
export async function makeKernel(bytes) {
  const pages = Math.ceil(bytes / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const imports = { page: { memory } };
  const { instance } = await WebAssembly.instantiate(code(), imports);
  const { multiply: run } = instance.exports;
  const multiply = (C, A, B, M, N, K, down, right) => {
    run(C.byteOffset, A.byteOffset, B.byteOffset, M, 4 * N, K, 4 * down, 4 * right);
    multiplyAdd(C, A, B, M, N, K, down, right, M - (M % 4), N - (N % 4)); // the edges
  };
  return { memory: memory.buffer, multiply };
}
