// Train it here: a small Transformer learns before the reader's eyes, in the worker of
// train_worker.js. nmt_lib/web/train_page.py puts this into a page, after kit.js. There
//   host, STYLE     are the element to draw in, with a template, and the page's style
//   WORKER, PACKED  are the worker's script, and the data that it unpacks
//   data            is {words, unknown, examples: [{text, reference, gold}], settings}

import { atMostEvery, button, chart, choice, grid, html, say, slider, toggle } from
  "./kit.js";

const LEARNING_RATES = [0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.02,
  0.03, 0.04, 0.06, 0.1];
const WARMUPS = [0, 10, 25, 50, 75, 100, 150, 200, 300, 400];
const SHOWN = 600; // updates on the chart, at first
const COLLAPSE = { n_layers: 2, norm: "post", lr: 0.02, warmup: 0 };
const IDEAS = [
  ["The model as it is", {}, "What does it learn first: where to look, which words " +
    "to say, or how they agree? The loss shows none of this."],
  ["Without warm-up, it is stuck", COLLAPSE, "Two layers, post-LN, a large learning " +
    "rate: the loss stays where a list of word frequencies is."],
  ["The same with warm-up", { ...COLLAPSE, warmup: 100 }, "The first steps are small," +
    " and it learns. Compare the curves, then try pre-LN without warm-up."],
  ["It may see the future", { causalMask: true }, "Without the causal mask, the loss " +
    "is splendid, because the model copies the next word from its own input. When it " +
    "translates, there is nothing to copy from."],
  ["A bag of words", { positions: true }, "Without positions, the model cannot know " +
    "which English word comes first. Who does what to whom?"],
];

const root = host.attachShadow({ mode: "open" });
root.append(html("style", {}, STYLE), host.querySelector("template").content);
const part = Object.fromEntries( // the elements that change, by name
  [...root.querySelectorAll("[data-part]")].map((one) => [one.dataset.part, one]));
const grids = []; // a map for each head
let run = null; // what is trained: {settings, says, looks}
let last = null; // the run before
let training = false;

// ------------------------------------------------------------ what the reader sets
const anew = () => start();
const WITHOUT = {
  causalMask: "the causal mask", positions: "the positions", scale: "√d_k",
};
const control = {
  norm: choice({ label: "Layer norm", options: [["post", "post-LN"], ["pre", "pre-LN"]],
    onChange: anew }),
  n_layers: choice({ label: "Layers on each side",
    options: [[1, "1"], [2, "2"], [4, "4"]], onChange: anew }),
  n_heads: choice({ label: "Heads", options: [[1, "1"], [2, "2"], [4, "4"]],
    onChange: anew }),
  d_model: choice({ label: "Width d_model",
    options: [[16, "16"], [32, "32"], [64, "64"]], onChange: anew }),
  lr: slider({ label: "Learning rate", values: LEARNING_RATES, onChange: anew }),
  warmup: slider({ label: "Warm-up, in updates", values: WARMUPS, onChange: anew }),
  ...Object.fromEntries(Object.entries(WITHOUT).map(([name, label]) =>
    [name, toggle({ label: `take away ${label}`, onChange: anew })])),
};

function settings() {
  const all = Object.fromEntries(
    Object.entries(control).map(([name, { value }]) => [name, value]));
  const { norm, n_layers, n_heads, d_model, lr, warmup, ...without } = all;
  const model = { norm, n_layers, n_heads, d_model, d_ff: 2 * d_model };
  return { model, train: { lr, warmup }, without, seed: 1, all };
}

function set(changes) {
  const wanted = { ...data.settings, ...changes };
  for (const [name, one] of Object.entries(control)) one.set(wanted[name] ?? false);
}

/** The settings in words, to compare two runs by. */
function inWords({ norm, n_layers, n_heads, d_model, lr, warmup, ...without }) {
  const gone = Object.keys(WITHOUT).filter((name) => without[name]);
  return [`${norm}-LN`, `${n_layers} + ${n_layers} layers`, `heads ${n_heads}`,
    `width ${d_model}`, `learning rate ${lr}`, `warm-up ${warmup}`,
    ...gone.map((name) => `without ${WITHOUT[name]}`)].join(", ");
}

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
  order("data", PACKED);
  order("pace", slow.value);
}

const fail = (reason) => say(part.note, `This does not work here: ${reason}.`);

/** A new model. The run before stays on the page, to compare with. */
function start() {
  if (!worker) begin();
  if (run?.looks.length > 1) last = run;
  const { all, ...asked } = settings();
  run = { says: inWords(all), looks: [], all };
  part.log.replaceChildren();
  turn(false);
  ask();
  order("start", asked);
  part.save.disabled = true;
  say(part.note, "");
}

const example = () => data.examples.find(({ text }) => text === part.text.value.trim());

function ask() {
  order("ask", { text: part.text.value.trim(), reference: example()?.reference });
}

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
  const before = run.looks.at(-1);
  if (before?.step === look.step) run.looks.pop(); // the same model, asked again
  run.looks.push(look);
  if (before?.step !== look.step) write(look);
  part.save.disabled = look.step === 0 || run.all.positions;
  show();
  if (look.step % 100 === 0 && look.step) say(part.spoken, summary(run));
}

function summary({ looks }) {
  const { step, loss, right, said } = looks.at(-1);
  const counted = right === null ? "" : ` ${right} of 100 held-out sentences right.`;
  return `Update ${step}${step ? `, loss ${loss.toFixed(2)}` : ""}. ` +
    `The model says: ${said || "nothing"}.${counted}`.replace("..", ".");
}

function write({ step, loss, said, right }) { // the column that stays
  const counted = step % 100 === 0 && right !== null ? `${right}` : "";
  const cells = [`${step}`, step ? loss.toFixed(2) : "", said || "(nothing)", counted];
  part.log.prepend(html("tr", {}, ...cells.map((text) => html("td", {}, text))));
}

const show = atMostEvery(400, () => {
  const look = run.looks.at(-1);
  if (!look) return;
  const { step, loss, right, said, milliseconds, source, sourceIds } = look;
  const short = said.length > 120 ? `${said.slice(0, 120)} …` : said;
  say(part.said, short || "(nothing)");
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
  while (grids.length < heads.length) {
    const made = grid({ label: "" });
    grids.push(made);
    part.maps.append(made.element);
  }
  grids.forEach(({ element, draw }, head) => {
    element.hidden = head >= heads.length;
    if (element.hidden) return;
    const name = heads.length > 1 ? `head ${head + 1} of the last layer` : "";
    say(element.firstChild, name);
    const weights = heads[head].map((row) => [...row]);
    draw({ rows: tokens, columns: source, weights, gold });
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
const slow = toggle({ label: "slowly", onChange: (value) => order("pace", value) });
part.curve.append(curve.element);
part.pace.append(slow.element);
part.settings.append(...Object.values(control).map(({ element }) => element));
part.vocabulary.append(data.words.join(" "));
part.examples.append(...data.examples.map(({ text }) => button(text, () => {
  part.text.value = text;
  ask();
})));
part.ideas.append(...IDEAS.map(([title, changes, says]) => button(title, () => {
  set(changes);
  say(part.idea, says);
  start();
})));
part.text.value = data.examples[0].text;
part.text.addEventListener("change", ask);
part.play.addEventListener("click", play);
part.again.addEventListener("click", start);
part.once.addEventListener("click", () => {
  if (!run) start();
  order("once");
});
part.save.addEventListener("click", () => order("save"));
set({});
host.classList.add("drawn");
