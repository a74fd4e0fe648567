// `multiplyAdd` of train_ops.js in WebAssembly, which multiplies four numbers at once
// (SIMD). The program is put together here, byte by byte, so that nothing is hidden in
// it. Letters are those of `multiplyAdd`; sizes and steps are in bytes, 4 a number.

const I32 = 0x7f, F32 = 0x7d, V128 = 0x7b, EMPTY = 0x40; // types
const [C, A, B, M, ROW, K, DOWN, RIGHT] = [0, 1, 2, 3, 4, 5, 6, 7]; // parameters
const [m, n, k, a, b, p] = [8, 9, 10, 11, 12, 13]; // variables; p: where a row begins
const get = (i) => [0x20, i], set = (i) => [0x21, i], tee = (i) => [0x22, i];
const number = (i) => [0x41, i]; // below 64: one byte
const add = 0x6a, subtract = 0x6b, times = 0x6c, isAbove = 0x4b;
const advance = (i, by) => [get(i), by, add, set(i)];
const until = (done, inside) => // a loop that ends when `done`
  [0x02, EMPTY, 0x03, EMPTY, done, 0x0d, 1, inside, 0x0c, 0, 0x0b, 0x0b];
const at = (offset) => [2, offset]; // 2: addresses are multiples of 2² bytes
// Four numbers at once, and one: how to read, write, add and multiply; its variables.
const FOUR = {
  read: [0xfd, 0x00], readA: [0xfd, 0x09], write: [0xfd, 0x0b], // readA: four times
  add: [0xfd, 0xe4, 0x01], times: [0xfd, 0xe6, 0x01], first: 14,
};
const ONE = { read: 0x2a, readA: 0x2a, write: 0x38, add: 0x92, times: 0x94, first: 25 };

const each = (count, make) => Array.from({ length: count }, (_, i) => make(i));

/** `rows` rows of C by `width` numbers: their sums stay in variables while k runs. */
function tile(rows, width) {
  const kind = width > 1 ? FOUR : ONE, parts = Math.ceil(width / 4), own = kind.first;
  const A_ = own, B_ = (i) => own + 1 + i, sum = (r, i) => own + 3 + 2 * r + i;
  const inRows = (step, make) =>
    each(rows, (r) => [make(r), r + 1 < rows ? advance(p, get(step)) : []]);
  const toC = [get(C), get(m), get(ROW), times, add, get(n), add, set(p)];
  return [
    toC,
    inRows(ROW, (r) => each(parts, (i) =>
      [get(p), kind.read, at(16 * i), set(sum(r, i))])),
    [get(A), get(m), get(DOWN), times, add, set(a), get(B), get(n), add, set(b)],
    [get(K), set(k), 0x03, EMPTY],
    each(parts, (i) => [get(b), kind.read, at(16 * i), set(B_(i))]),
    [get(a), set(p)],
    inRows(DOWN, (r) => [
      [get(p), kind.readA, at(0), set(A_)],
      each(parts, (i) =>
        [get(sum(r, i)), get(A_), get(B_(i)), kind.times, kind.add, set(sum(r, i))]),
    ]),
    [advance(a, get(RIGHT)), advance(b, get(ROW))],
    [get(k), number(1), subtract, tee(k), 0x0d, 0, 0x0b], // until k is 0
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

function leb(value) { // an unsigned integer, seven bits a byte
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}
const sized = (...inside) => {
  const bytes = inside.flat(Infinity);
  return [leb(bytes.length), bytes];
};
const text = (letters) => sized(...new TextEncoder().encode(letters));

function code() {
  const variables = [[6, I32], [11, V128], [11, F32]];
  return Uint8Array.from([
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    [1, sized(1, 0x60, sized(each(8, () => I32)), 0)], // one type: takes 8 integers
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
  const multiply = (C, A, B, M, N, K, down, right) =>
    run(C.byteOffset, A.byteOffset, B.byteOffset, M, 4 * N, K, 4 * down, 4 * right);
  return { memory: memory.buffer, multiply };
}
