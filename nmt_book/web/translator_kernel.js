// What takes most of a translation's time, a matrix times a vector, in WebAssembly:
// four rows at once, and four numbers of each. Without it, translator.js does it all.

import {
  add, advance, again, at, each, FOUR, get, I32, isBelow, makeProgram, number, ONE, set,
  subtract, tee, times, V128,
} from "./wasm.js";

// Parameters: addresses of the matrix W, of x and of y; how many rows, and their bytes.
const [W, X, Y, ROWS, ROW] = [0, 1, 2, 3, 4], [i, p] = [5, 6]; // p: where a number is
const sum = (r) => 7 + r, x = 11, four = number(4), all = number(16); // 4 · 4 bytes

/** y += W x. Each of four sums is made of four, which are added at the end. */
const program = again([
  each(4, (r) => [FOUR.zero, set(sum(r))]),
  [number(0), set(i)],
  again([
    [get(X), get(i), add, FOUR.read, at(0), set(x), get(W), get(i), add, set(p)],
    each(4, (r) => [
      [get(sum(r)), get(x), get(p), FOUR.read, at(0), FOUR.times, FOUR.add],
      [set(sum(r)), r < 3 ? advance(p, get(ROW)) : []],
    ]),
    advance(i, all),
  ], [get(i), get(ROW), isBelow]),
  each(4, (r) => [
    [get(Y), get(Y), ONE.read, at(4 * r)],
    each(4, (lane) => [get(sum(r)), FOUR.one(lane), ONE.add]),
    [ONE.write, at(4 * r)],
  ]),
  [advance(Y, all), advance(W, [get(ROW), four, times])],
], [get(ROWS), four, subtract, tee(ROWS)]);

/** Moves matrices to where the program finds them, and gives a function that adds W x
 * to y: it returns how many rows it has done, whole fours of them. */
export async function makeKernel(weights) {
  const fits = ({ shape: [rows, columns] }) => columns % 4 === 0 && rows >= 4;
  const moved = Object.values(weights).filter(fits);
  const most = (n) => Math.max(0, ...moved.map(({ shape }) => (shape[n] + 3) & ~3));
  const sizes = [most(0), most(1), ...moved.map(({ data }) => (data.length + 3) & ~3)];
  const bytes = 4 * sizes.reduce((a, b) => a + b);
  const { memory, run } = await makeProgram(bytes, 5, [[2, I32], [5, V128]], program);
  const floats = new Float32Array(memory);
  const ends = sizes.map((_, n) => sizes.slice(0, n + 1).reduce((a, b) => a + b));
  const place = (n) => floats.subarray(ends[n] - sizes[n], ends[n]);
  const [sums, vector] = [place(0), place(1)];
  moved.forEach((one, n) => {
    const data = place(n + 2).subarray(0, one.data.length);
    data.set(one.data);
    one.data = data;
  });
  return ({ data, shape: [rows, columns] }, x, y) => {
    if (data.buffer !== memory) return 0;
    const whole = rows - (rows % 4);
    vector.set(x);
    sums.set(y);
    run(data.byteOffset, vector.byteOffset, sums.byteOffset, whole, 4 * columns);
    y.set(sums.subarray(0, whole));
    return whole;
  };
}
