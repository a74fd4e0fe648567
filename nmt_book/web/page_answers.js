// The translators of the live page: they work in a worker, and answers are kept.

import { workerOf } from "./kit.js";
import { keyOf } from "./page_state.js";

const MOST = 200; // answers that are kept

/** `stored` are questions that came with the page, each with its answer in JSON.
 * `names` is what rows and columns of each kind of attention are called, and `script`
 * is page_worker.js with what it imports. */
export function makeAnswers({ stored, names, limit }, script) {
  const known = new Map(stored.map((one) => [keyOf(one), one]));
  const loaded = new Set(), waiting = new Map(); // by number
  let worker = null, number = 0;

  function receive({ data: { number, done, failed, words } }) {
    const { resolve, reject, onWords } = waiting.get(number) ?? {};
    if (words !== undefined) return onWords?.(words);
    waiting.delete(number);
    return failed === undefined ? resolve?.(done) : reject?.(new Error(failed));
  }

  /** Where a worker is not allowed, the same script runs on the page's own thread. */
  function start() {
    try {
      worker = workerOf(script);
      worker.onmessage = receive;
      worker.onerror = here;
    } catch {
      here();
    }
  }

  function here() {
    const port = { postMessage: (data) => receive({ data }) };
    new Function("self", script)(port);
    worker = { postMessage: (data) => setTimeout(() => port.onmessage({ data })) };
    for (const { message } of waiting.values()) worker.postMessage(message);
  }

  function send(job, asked, { onWords, signal } = {}) {
    if (!worker) start();
    const mine = ++number, message = { number: mine, job, asked };
    signal?.addEventListener("abort", () =>
      worker.postMessage({ number: mine, job: "stop" }));
    return new Promise((resolve, reject) => {
      waiting.set(mine, { resolve, reject, onWords, message });
      worker.postMessage(message);
    });
  }

  /** The answer to a question, if it is here. Half a megabyte came with the page, so
   * what is stored is read when it is asked for. */
  function find(question) {
    const key = keyOf(question), one = known.get(key);
    if (one?.json) known.set(key, { ...one, ...JSON.parse(one.json), json: "" });
    return known.get(key);
  }

  return {
    find,
    has: (model) => loaded.has(model),

    /** Opens a model file; gives the `data` part of its config, or throws. */
    async open(name, bytes) {
      const about = await send("load", { name, bytes });
      loaded.add(name);
      return about;
    },

    /** What the model computes for one word, in the form of page_look.js. */
    look: (asked) => send("look", asked),

    /** Those of some texts of which the model knows every word. */
    known: (model, texts) => send("known", { model, texts }),

    /** Undefined where neither the answer nor the model is here. */
    async ask(asked, options = {}) {
      const here = find(asked), key = keyOf(asked);
      if (here || !loaded.has(asked.model)) return here;
      const found = await send("translate", { ...asked, limit }, options);
      if (found.tooLong) return found;
      for (const [kind, maps] of Object.entries(found.kinds)) maps.names = names[kind];
      if (known.size > MOST) known.delete([...known.keys()][stored.length]);
      known.set(key, { ...found, ...asked });
      return known.get(key);
    },
  };
}
