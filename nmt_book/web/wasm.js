// A function in WebAssembly, which multiplies four numbers at once (SIMD). A program is
// put together byte by byte, so that nothing is hidden in it.

export const I32 = 0x7f, F32 = 0x7d, V128 = 0x7b; // types
export const get = (i) => [0x20, i], set = (i) => [0x21, i], tee = (i) => [0x22, i];
export const number = (i) => [0x41, i]; // below 64: one byte
export const add = 0x6a, subtract = 0x6b, times = 0x6c, isAbove = 0x4b;
export const advance = (i, by) => [get(i), by, add, set(i)];
export const at = (offset) => [2, offset]; // 2: addresses are multiples of 2² bytes
const EMPTY = 0x40;
export const until = (done, inside) => // a loop that ends when `done`
  [0x02, EMPTY, 0x03, EMPTY, done, 0x0d, 1, inside, 0x0c, 0, 0x0b, 0x0b];
export const again = (inside, more) => // a loop that ends unless `more`
  [0x03, EMPTY, inside, more, 0x0d, 0, 0x0b];
// Four numbers at once, and one: how to read, write, add and multiply.
export const FOUR = {
  read: [0xfd, 0x00], readA: [0xfd, 0x09], write: [0xfd, 0x0b], // readA: four times
  add: [0xfd, 0xe4, 0x01], times: [0xfd, 0xe6, 0x01],
};
export const ONE = { read: 0x2a, readA: 0x2a, write: 0x38, add: 0x92, times: 0x94 };

export const each = (count, make) => Array.from({ length: count }, (_, i) => make(i));

function leb(value) { // an unsigned integer, seven bits a byte
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}
const sized = (...inside) => {
  const bytes = inside.flat(Infinity);
  return [leb(bytes.length), bytes];
};
const text = (letters) => sized(...new TextEncoder().encode(letters));

/** Memory of at least so many bytes, and `run`, a program that takes `n` integers and
 * works in that memory; `variables` are [how many, type], numbered from n on. */
export async function makeProgram(bytes, n, variables, program) {
  const code = Uint8Array.from([
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    [1, sized(1, 0x60, sized(each(n, () => I32)), 0)], // one type: takes n integers
    [2, sized(1, text("page"), text("memory"), 2, 0, 1)], // imports
    [3, sized(1, 0)], // one function, of the first type
    [7, sized(1, text("run"), 0, 0)], // exports
    [10, sized(1, sized(variables.length, variables, program, 0x0b))],
  ].flat(Infinity));
  const pages = Math.ceil(bytes / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { instance } = await WebAssembly.instantiate(code, { page: { memory } });
  return { memory: memory.buffer, run: instance.exports.run };
}
