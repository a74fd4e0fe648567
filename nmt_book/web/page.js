// The live page: type a sentence, choose its words, switch off heads, see what changes.
// nmt_book/pictures/explore.py puts it into a page, with its data:
//   models    [{name, title, source, target, examples, failures, learnt, url, bytes}]:
//             `learnt` says what it was trained on, `failures` are other texts
//   stored    what to show before a model is there: questions, each with its answer
//             in the form of page_worker.js as `json`, which is a text
//   names     what the rows and columns of each kind of attention are called
//   ideas     [{says, asks, address, shows}]: heads that are worth switching off
//   sentences by language: what a model of the reader's own may know
//   brief     on a page where this is the beginning: one idea, for each sentence
//   chapters  where the pages of the chapters are, if they are anywhere
//   start     the address of the first state; fragment: the page keeps its state there
//   worker    what serves the page without a network; unk, limit: numbers

import { fromTemplate, say, sayAll } from "./kit.js";
import { makeAnswers } from "./page_answers.js";
import { makeAsk } from "./page_ask.js";
import { makeModels } from "./page_models.js";
import {
  isTouched, questionOf, readAddress, UNTOUCHED, writeAddress,
} from "./page_state.js";

const PAUSE = 250; // milliseconds without a key: then all follows what is typed
const frame = () =>
  new Promise((go) => requestAnimationFrame(() => setTimeout(go)));

/** Draws the page in `host`; `templates` are {page, viewer}, `model` holds the bytes of
 * a model file, or null, and `makers` make what is below the translation, by name. */
export function livePage(host, data, templates, script, model, makers) {
  const part = fromTemplate(host, templates.page), { offer, file } = part;
  const state = {}, answers = makeAnswers(data, script);
  const models = makeModels(data.models, answers, data.worker, onModel);
  const need = () => models.get(state.model, true);
  const typed = () => navigator.connection?.saveData || need();
  const page = { state, data, templates, part, answers, models, shown: {},
    change, go, look, need, typed };
  const ask = makeAsk(page), below = {};
  for (const [name, make] of Object.entries(makers)) below[name] = make(page);
  const { words, machine } = below;
  let busy = new AbortController();

  // ------------------------------------------------------------------ changes
  /** Changes what is asked for; `typed`: the text is what the reader has typed. */
  function change(changes, typed = false) {
    words?.stop();
    const differs = (name) => name in changes && changes[name] !== state[name];
    if (differs("model")) state.closed = new Set();
    if (differs("model") || differs("text")) // ids and places are those of the old one
      Object.assign(state, { hidden: new Set(), prefix: [], step: 0 });
    Object.assign(state, { gone: false }, changes);
    if ("text" in changes && !typed) ask.write();
    if (!typed) remember("pushState"); // Back undoes all but typing
    return run(typed);
  }

  function remember(how) {
    if (data.fragment) history[how](null, "", writeAddress(state));
  }

  function look(changes) { // at another map: nothing is translated
    Object.assign(state, changes);
    remember("replaceState");
    machine?.draw();
  }

  function go(step) {
    const { length } = page.shown.now.tokens;
    look({ step: Math.max(0, Math.min(length - 1, step)) });
    words?.draw();
  }

  async function readState() {
    const address = data.fragment ? location.hash : "";
    Object.assign(state, readAddress(address, models.all, data.start));
    words?.stop();
    ask.write();
    await frame(); // on arrival, the script has just been read
    run();
  }

  // ------------------------------------------------------------------ answers
  async function run(typed = false) {
    busy.abort();
    const { signal } = (busy = new AbortController());
    for (const one of [host, part.ask]) one.setAttribute("aria-busy", "true");
    try {
      page.shown = await answersOf(questionOf(state), signal);
    } catch (error) {
      if (!signal.aborted) page.shown = { failed: error.message };
    }
    if (signal.aborted) return;
    ask.draw(typed);
    part.ask.setAttribute("aria-busy", "false");
    if (typed) {
      await new Promise((go) => setTimeout(go, PAUSE));
      if (signal.aborted) return;
      remember("replaceState");
    }
    if (!await drawParts(signal)) return;
    // What somebody has sent is worth 5 MB at once; what has failed, only if asked for.
    const sent = shared && page.shown.stored && !models.all.get(state.model).failed;
    if (!answers.has(state.model)) models.get(state.model, sent);
    host.setAttribute("aria-busy", "false");
  }

  /** What is shown: {now, open, same}: the translation; it with all heads on; and the
   * probabilities of its words with all heads on. */
  async function answersOf(asked, signal) {
    if (!asked.asked) return {};
    const onWords = (words) => !signal.aborted && ask.drawGrowing(words);
    const now = await answers.ask(asked, { signal, onWords });
    if (!now) return wanting(asked);
    if (now.tooLong) return { tooLong: now.length };
    const touched = isTouched(state), off = state.closed.size + state.hidden.size;
    const plainly = { ...asked, ...UNTOUCHED };
    const open = touched ? await answers.ask(plainly, { signal }) : now;
    const plain = { ...plainly, beam: 1, alpha: null, heat: 0, draw: 0 };
    const same = off
      ? await answers.ask({ ...plain, prefix: now.ids }, { signal }) : null;
    return open ? { now, open, same } : wanting(asked);
  }

  /** While the model is not here: a stored answer about the same text. */
  function wanting({ model, asked, beam, alpha }) {
    const now = answers.find({ model, asked, beam, alpha }) ??
      answers.find({ model, asked });
    return { now, open: now, stored: true };
  }

  const shared = data.fragment && location.hash.length > 1;

  function onModel(name, what) {
    if (name === state.model) drawOffer(); // at once, although keys come in
    if (what === "done") run();
  }

  async function openFile() {
    try {
      const model = await models.openFile(file.files[0]);
      const { text } = state, others = [...models.all.values()];
      const ours = others.flatMap(({ source, examples }) =>
        (source === model.source ? examples : []));
      const texts = [...data.sentences[model.source] ?? [], ...ours];
      const known = await answers.known(model.name, texts);
      const hers = !others.some(({ examples, failures = [] }) =>
        [...examples, ...failures].includes(text));
      model.examples = known.slice(0, 4);
      say(part.opened, "");
      ask.drawDirections();
      change({ model: model.name, text: hers ? text : known[0] ?? "" });
    } catch (error) {
      say(part.opened, `This file cannot be used: ${error.message}.`);
    }
  }

  // ------------------------------------------------------------------ drawing
  /** All below the translation, a step in each frame, so that keys come in between;
   * false if something else was asked for meanwhile. */
  async function drawParts(signal) {
    const { now, stored } = page.shown, { results } = part;
    drawOffer();
    results.inert = stored && !now; // of the sentence before, until a model is here
    results.hidden = !results.inert && !now?.tokens.length;
    if (results.inert || results.hidden) return true;
    state.step = Math.min(state.step, now.tokens.length - 1);
    for (const [name, { draw }] of Object.entries(below)) {
      part[name].hidden = false;
      for (const _ of draw() ?? [0]) {
        await frame();
        if (signal.aborted) return false;
      }
    }
    return true;
  }

  function drawOffer() {
    const { bytes, progress, failed, url } = models.all.get(state.model);
    const size = `${(bytes / 1e6).toFixed(1)} MB`, { now, stored } = page.shown;
    offer.hidden = answers.has(state.model);
    if (offer.hidden) return;
    // Asked for by something further down the page: there it is seen.
    const far = stored && now && (isTouched(state) || now.beam !== state.beam);
    const place = far ? part.all : now ? part.slot : part.coming;
    if (offer.parentNode !== place) place.append(offer);
    offer.classList.toggle("below", Boolean(far));
    const why = far ? "To see what this changes" : "To translate your own sentences";
    const needs = `${why}, your browser needs the model: ${size}, once. It is kept ` +
      "here and works offline; what you type never leaves this page.";
    const folder = location.protocol === "file:"
      ? "A page from a folder may not read other files: open the model below, under " +
        "“A model of your own”." : "";
    const there = `${((progress || 0) * bytes / 1e6).toFixed(1)} of ${size}`;
    sayAll(part, {
      why: failed ? `${failed} ${folder}` : needs,
      get: progress ? there : `Get the model (${size})`,
    });
    part.get.disabled = progress || !url;
    part.progress.hidden = !progress;
    part.progress.value = progress || 0;
  }

  part.get.onclick = need;
  file.onchange = openFile;
  file.onclick = () => { file.value = ""; }; // the same file may be another model now
  if (data.fragment) addEventListener("hashchange", readState);
  host.classList.add("drawn");
  ask.drawDirections();
  readState();
  if (model) answers.open(data.models[0].name, model).then(run);
}
