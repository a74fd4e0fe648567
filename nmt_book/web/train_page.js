// Train it here: a small Transformer learns before the reader's eyes, in the worker of
// train_worker.js. nmt_book/web/train_page.py defines before this: `host`, the element
// to draw in; STYLE and TEMPLATE, its style and elements; WORKER, a script; and `data`,
// {words, unknown, examples: [{text, reference, gold}], settings, packed, text}, where
// `packed` are the sentences for the worker, and `text` is to be translated first.

import { atMostEvery, button, html, range, say, toggle } from "./kit.js";
import { chart, grid } from "./pictures.js";
import { asked, IDEAS, inWords, makeControls } from "./train_settings.js";

const SHOWN = 600; // updates on the chart, at first
const root = host.attachShadow({ mode: "open" });
root.innerHTML = TEMPLATE;
root.prepend(html("style", {}, STYLE));
const part = Object.fromEntries( // the elements that change, by name
  [...root.querySelectorAll("[data-part]")].map((one) => [one.dataset.part, one]));
const grids = range(1, 4).map((head) => // of the heads, which are 4 at most
  grid({ label: `head ${head} of the last layer` }));
const settings = makeControls(data.settings);
let run = null; // what is trained: {id, wanted, says, looks}
let last = null; // the run before
let training = false;

// ------------------------------------------------------------ the worker
let worker = null;
const order = (...message) => worker?.postMessage(message);

function begin() { // the worker is there from the first press on
  const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
  worker = new Worker(url);
  worker.onerror = ({ message }) => fail(message);
  worker.onmessage = ({ data: { look, state, file, failed } }) => {
    if (look) hear(look);
    if (state) turn(state === "training");
    if (file) handOver(file);
    if (failed) fail(failed);
  };
  order("data", data.packed);
  order("pace", slow.value);
}

const fail = (reason) => say(part.note, `This does not work here: ${reason}.`);

/** A new model. The run before stays on the page, to compare with. */
function start() {
  if (!worker) begin();
  if (run?.looks.length > 1) last = run;
  const wanted = asked(settings.values);
  run = { says: inWords(wanted), wanted, looks: [], id: (run?.id ?? 0) + 1 };
  part.log.replaceChildren();
  turn(false);
  order("start", { ...wanted, id: run.id, sentence: sentence() });
  part.save.disabled = true;
  say(part.note, "");
}

const example = () => data.examples.find(({ text }) => text === part.text.value.trim());

const sentence = () =>
  ({ text: part.text.value.trim(), reference: example()?.reference });
const ask = () => order("ask", sentence());

function play() {
  if (!run) start();
  order(training ? "pause" : "go");
}

function turn(on) {
  training = on;
  say(part.play, on ? "Pause" : "Train");
  part.once.disabled = on;
  if (!on && run?.looks.length > 1) say(part.spoken, `Paused. ${summary(run)}`);
}

function handOver(file) {
  const url = URL.createObjectURL(file);
  html("a", { href: url, download: "model.safetensors" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  say(part.note, "model.safetensors is saved.");
}

// ------------------------------------------------------------ what the model says
function hear(look) {
  if (look.id !== run.id) return; // of the run before
  const before = run.looks.at(-1);
  if (before?.step === look.step) run.looks.pop(); // the same model, asked again
  run.looks.push(look);
  if (before?.step !== look.step) write(look);
  part.save.disabled = look.step === 0 || run.wanted.without.positions;
  show();
  if (look.step % 100 === 0 && look.step) say(part.spoken, summary(run));
}

function summary({ looks }) {
  const { step, loss, right, said } = looks.at(-1);
  const counted = right === null ? "" : ` ${right} of 100 held-out sentences right.`;
  return `Update ${step}${step ? `, loss ${loss.toFixed(2)}` : ""}. ` +
    `The model says: ${short(said)}${counted}`;
}

const short = (said) => // a model that repeats itself goes on for long
  (said.length > 90 ? `${said.slice(0, 75)} …` : said || "(nothing)");

function write({ step, loss, said, right }) { // the column that stays
  const counted = step % 100 === 0 && right !== null ? `${right}` : "";
  const cells = [`${step}`, step ? loss.toFixed(2) : "", short(said), counted];
  part.log.prepend(html("tr", {}, ...cells.map((text) => html("td", {}, text))));
}

const show = atMostEvery(400, () => {
  const look = run.looks.at(-1);
  if (!look) return;
  const { step, loss, right, said, milliseconds, source, sourceIds } = look;
  say(part.said, short(said));
  say(part.step, `${step}`);
  say(part.loss, step ? loss.toFixed(2) : "–");
  say(part.right, right === null ? "–" : `${right}`);
  say(part.speed, step > 1 ? `${Math.round(1000 * step / milliseconds)}` : "–");
  const strange = source.filter((_, i) => sourceIds[i] === data.unknown);
  say(part.words, strange.length ? `Not among its words: ${strange.join(", ")}.` : "");
  drawMaps(look);
  drawCurve(look);
});

function drawMaps({ source, tokens, cross }) {
  const heads = cross.at(-1), gold = new Set(example()?.gold);
  grids.forEach(({ element, draw }, head) => {
    element.hidden = head >= heads.length;
    element.firstChild.hidden = heads.length === 1; // its label
    const weights = heads[head]?.map((row) => [...row]);
    if (weights) draw({ rows: tokens, columns: source, weights, gold });
  });
}

function drawCurve({ frequencyLoss }) {
  const pointsOf = ({ looks }) => looks.filter(({ step }) => step)
    .map(({ step, loss }) => [step, loss]);
  const lines = [[last, "last"], [run, "now"]].filter(([one]) => one)
    .map(([one, name]) => ({ points: pointsOf(one), name }));
  const end = Math.max(SHOWN, ...lines.flatMap(({ points }) => points.map(([x]) => x)));
  const rules = [[frequencyLoss, "word frequencies"]];
  curve.draw({ lines, rules, end, top: 6, summary: summary(run) });
  say(part.now, `Now: ${run.says}.`);
  say(part.before, last ? `Before, in grey: ${last.says}. ${summary(last)}` : "");
}

// ------------------------------------------------------------ the page
const curve = chart({ label: "the loss", x: "updates", y: "loss" });
const slow = toggle("slowly");
part.maps.append(...grids.map(({ element }) => element));
part.curve.append(curve.element);
part.pace.append(slow.element);
part.pace.addEventListener("change", () => order("pace", slow.value));
part.settings.append(settings.element);
part.settings.addEventListener("change", start); // a change makes a new model
part.vocabulary.append(data.words.join(" "));
part.examples.append(...data.examples.map(({ text }) => button(text, () => {
  part.text.value = text;
  ask();
})));
part.ideas.append(...IDEAS.map(([title, changes, says]) => button(title, () => {
  settings.set({ ...data.settings, ...changes });
  say(part.idea, says);
  start();
})));
part.text.value = data.text ?? data.examples[0].text;
part.text.addEventListener("change", ask);
part.play.addEventListener("click", play);
part.again.addEventListener("click", start);
part.once.addEventListener("click", () => {
  if (!run) start();
  order("once");
});
part.save.addEventListener("click", () => order("save"));
host.classList.add("drawn");
