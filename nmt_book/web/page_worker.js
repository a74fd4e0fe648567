// Translates for the live page in a worker, so that the page answers meanwhile.

import { look } from "./page_look.js";
import { PAD, SOS, UNK } from "./tokenizers.js";
import { load } from "./translator.js";

const PAUSE = 30; // milliseconds between looks at whether the answer is still wanted
const translators = new Map(); // by name
const running = new Map(); // by number: what stops a translation

self.onmessage = async ({ data: { number, job, asked } }) => {
  if (job === "stop") return running.get(number)?.abort();
  const stopper = new AbortController();
  running.set(number, stopper);
  try {
    self.postMessage({ number, done: await jobs[job](asked, number, stopper) });
  } catch (error) {
    const stopped = stopper.signal.aborted;
    self.postMessage({ number, failed: stopped ? "" : error.message });
  }
  running.delete(number);
};

const jobs = { load: open, translate: answer, known,
  look: (asked) => look(translators.get(asked.model), asked, closedBy(asked)) };

async function open({ name, bytes }) {
  const translator = await load(bytes);
  translators.set(name, translator);
  return translator.config.data;
}

function known({ model, texts }) {
  const translator = translators.get(model);
  return texts.filter((text) => translator.encode(text).every(({ id }) => id !== UNK));
}

/** Which columns attention may not use: of heads that are off, of hidden subwords. */
function closedBy(asked) {
  const off = new Set(asked.closed), columns = new Set(asked.hidden);
  const closed = (kind, layer, head, column) =>
    off.has(`${kind}-${layer}-${head}`) || (kind === "cross" && columns.has(column));
  return off.size + columns.size ? closed : undefined;
}

async function answer(asked, number, { signal }) {
  const translator = translators.get(asked.model);
  const length = translator.encode(asked.asked).length;
  const n = Math.max(0, length - (translator.config.data.src_specials ? 2 : 1));
  if (n > asked.limit) return { length: n, tooLong: true };
  const { tokens } = translator.tgtTokenizer;
  let last = performance.now();
  const onStep = async (ids) => {
    if (performance.now() - last < PAUSE) return;
    self.postMessage({ number, words: translator.tgtTokenizer.decode(ids) });
    await new Promise((go) => setTimeout(go)); // a message to stop comes in here
    last = performance.now();
  };
  const found = await translator.translate(asked.asked, {
    beamSize: asked.beam, alpha: asked.alpha ?? undefined,
    temperature: asked.heat, seed: asked.draw,
    prefix: asked.prefix.filter((id) => id < tokens.length && id !== PAD && id !== SOS),
    closed: closedBy(asked), onStep, signal,
  });
  return { ...flat(found), length: n };
}

/** A translation with its maps as the viewer reads them: thousandths, row by row. */
function flat({ maps, ...found }) {
  const { source, tokens } = found, read = ["<sos>", ...tokens.slice(0, -1)];
  const thousandths = (head) =>
    head.flatMap((row) => Array.from(row, (weight) => Math.round(1000 * weight)));
  const kind = (name, rows, columns) => ({ rows, columns,
    weights: maps[name].map((heads) => heads.map(thousandths)) });
  return { ...found, kinds: {
    encoder: kind("encoder", source, source), decoder: kind("decoder", tokens, read),
    cross: kind("cross", tokens, source),
  } };
}
