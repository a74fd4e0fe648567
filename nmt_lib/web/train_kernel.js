// `multiplyAdd` of train_ops.js in WebAssembly. Letters are those of `multiplyAdd`;
// sizes and steps are in bytes, 4 a number.

import { multiplyAdd } from "./train_ops.js";
import {
  add, advance, again, at, FOUR, get, I32, isAbove, makeProgram, number, set, subtract,
  tee, times, until, V128,
} from "./wasm.js";

const [C, A, B, M, ROW, K, DOWN, RIGHT] = [0, 1, 2, 3, 4, 5, 6, 7]; // parameters
const [m, n, k, a, b, p] = [8, 9, 10, 11, 12, 13]; // variables; p: where a row begins
const [A4, B4, ...SUMS] = [14, 15, 16, 17, 18, 19]; // variables of four numbers each

/** Something for each of four rows, from the address on the stack on. */
const inRows = (step, make) => [set(p), SUMS.map((sum) => [make(sum), advance(p, step)])];

/** A tile of C, 4 × 4: its sums stay in variables while k runs. */
function tile() {
  const toC = [get(C), get(m), get(ROW), times, add, get(n), add];
  return [
    toC, inRows(get(ROW), (sum) => [get(p), FOUR.read, at(0), set(sum)]),
    [get(A), get(m), get(DOWN), times, add, set(a), get(B), get(n), add, set(b)],
    [get(K), set(k)],
    again([
      [get(b), FOUR.read, at(0), set(B4), get(a)],
      inRows(get(DOWN), (sum) => [
        [get(p), FOUR.copies, at(0), set(A4)],
        [get(sum), get(A4), get(B4), FOUR.times, FOUR.add, set(sum)],
      ]),
      [advance(a, get(RIGHT)), advance(b, get(ROW))],
    ], [get(k), number(1), subtract, tee(k)]), // until k is 0
    toC, inRows(get(ROW), (sum) => [get(p), get(sum), FOUR.write, at(0)]),
  ];
}

/** All whole tiles. */
const program = () => until([get(m), number(4), add, get(M), isAbove], [
  [number(0), set(n)],
  until([get(n), number(16), add, get(ROW), isAbove],
    [tile(), advance(n, number(16))]),
  advance(m, number(4)),
]);

/** Memory for a Tape, and `multiply` for numbers in it. */
export async function makeKernel(bytes) {
  const variables = [[6, I32], [6, V128]];
  const { memory, run } = await makeProgram(bytes, 8, variables, program());
  const multiply = (C, A, B, M, N, K, down, right) => {
    run(C.byteOffset, A.byteOffset, B.byteOffset, M, 4 * N, K, 4 * down, 4 * right);
    multiplyAdd(C, A, B, M, N, K, down, right, M - (M % 4), N - (N % 4)); // the edges
  };
  return { memory, multiply };
}
