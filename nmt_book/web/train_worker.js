// The training page's worker: everything that takes long happens here.
//
// A message is [name, argument], with a name of `orders`. Its answers are {look}, which
// is what Session.look gives; {state}: "training" or "resting"; {file} and {failed}.

import { unpacked } from "./packed.js";
import { EVERY, Session } from "./train_session.js";

const REST_EVERY = 600; // updates: then the reader may press play again
let data, session, sentence = {}; // sentence: {text, reference}
let turn = 0, slow = false; // an order that ends the training makes it the next turn

const later = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

async function look() {
  const { id, frequencyLoss } = session;
  const seen = await session.look(sentence.text, sentence.reference);
  postMessage({ look: { ...seen, id, frequencyLoss } });
}

/** Trains while it is `own` turn; now and then, orders are heard. */
async function train(own) {
  let heard = performance.now(), looked = 0;
  postMessage({ state: "training" });
  while (turn === own) {
    session.update();
    if (session.step % EVERY === 0) {
      if (slow) await later(looked + 1500 - performance.now());
      looked = performance.now();
      if (turn === own) await look();
      if (turn === own && session.step % REST_EVERY === 0) turn++;
    }
    if (performance.now() - heard > 50) {
      await later();
      heard = performance.now();
    }
  }
  if (turn === own + 1) postMessage({ state: "resting" }); // no new training has begun
}

const orders = {
  data(packed) {
    data = unpacked(packed).json();
  },
  async start({ id, sentence: first, ...settings }) { // a new model
    turn++;
    session = Object.assign(await Session.create(await data, settings), { id });
    sentence = first;
    await look();
  },
  go() {
    train(++turn).catch(fail);
  },
  pause() {
    turn++;
  },
  pace(isSlow) {
    slow = isSlow;
  },
  async once() { // one update
    session.update();
    await look();
  },
  async ask(asked) {
    sentence = asked;
    if (session) await look();
  },
  async save() {
    await look(); // so that the page shows what the file holds
    postMessage({ file: session.file() });
  },
};

const fail = ({ message }) => postMessage({ failed: message });
let queue = Promise.resolve(); // an order waits until the one before is carried out
addEventListener("message", ({ data: [name, argument] }) => {
  queue = queue.then(() => orders[name](argument)).catch(fail);
});
