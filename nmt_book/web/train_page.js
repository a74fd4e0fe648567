// Train it here: a small Transformer learns before the reader's eyes, in the worker of
// train_worker.js. nmt_book/web/train_page.py puts the page together.

import {
  atMostEvery, button, fromTemplate, html, range, say, sayAll, toggle, workerOf,
} from "./kit.js";
import { chart, grid } from "./pictures.js";
import { asked, IDEAS, inWords, makeControls } from "./train_settings.js";

const SHOWN = 600; // updates on the chart, at first

/** Draws the page in `host`. `data` is {words, unknown, examples: [{text, reference,
 * gold}], settings, packed, text}, where `packed` are the sentences for the worker, and
 * `text` is to be translated first; `script` is the worker's. */
export function trainPage(host, data, template, script) {
  const part = fromTemplate(host, template), { text } = part;
  const settings = makeControls(data.settings), slow = toggle("slowly");
  const example = () => data.examples.find((one) => one.text === text.value.trim());
  const draw = makeDrawing(part, data, example);
  const failed = (reason) => say(part.note, `This does not work here: ${reason}.`);
  const order = makeOrder(script, data.packed,
    { look, state: (state) => turn(state === "training"), file, failed });
  const stored = data.film && { says: "a stored run", looks: data.film };
  const runs = { last: stored }; // and now: each {id, wanted, says, looks}
  const random = part.note.textContent;
  let training = false;

  /** A new model. The run before stays on the page, to compare with. */
  function start() {
    const { now } = runs, wanted = asked(settings.values), id = (now?.id ?? 0) + 1;
    if (now?.looks.length > 1) runs.last = now;
    runs.now = { id, wanted, says: inWords(wanted), looks: [] };
    part.log.replaceChildren();
    turn(false);
    order("pace", slow.value);
    order("start", { ...wanted, id, sentence: sentence() });
    part.save.disabled = true;
    say(part.note, random);
  }

  function take([, changes, says]) {
    settings.set({ ...data.settings, ...changes });
    say(part.idea, says);
    start();
  }

  const sentence = () =>
    ({ text: text.value.trim(), reference: example()?.reference });
  const ask = () => order("ask", sentence());

  function play() {
    say(part.note, "");
    order(training ? "pause" : "go");
    turn(!training); // at once: a second press is another order
  }

  function turn(on) {
    training = on;
    say(part.play, on ? "Pause" : "Train");
    part.once.disabled = on;
    if (!on && runs.now?.looks.length > 1)
      say(part.spoken, `Paused. ${summary(runs.now)}`);
  }

  function look(seen) {
    const { id, looks, wanted } = runs.now, { step } = seen;
    if (seen.id !== id) return; // of the run before
    if (looks.at(-1)?.step === step) looks.pop(); // the same model, asked again
    else write(part.log, seen);
    looks.push(seen);
    part.save.disabled = step === 0 || wanted.without.positions;
    draw(runs);
    if (step % 100 === 0 && step) say(part.spoken, summary(runs.now));
    if (step === SHOWN) invite(seen, wanted.without.causalMask);
  }

  /** At the end of the curve: what to try next. */
  function invite({ right }, masked) {
    const [text, idea] = masked ? ["Give the mask back →", IDEAS[0]]
      : ["Now take away the mask →", IDEAS[3]];
    const next = button(text, () => {
      take(idea);
      play();
      say(part.note, idea[2]);
      part.play.focus();
    }, { class: "main" });
    part.note.replaceChildren(html("b", `${right} of 100 right. `), next);
  }

  function file(blob) {
    const url = URL.createObjectURL(blob);
    html("a", { href: url, download: "model.safetensors" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    say(part.note, "model.safetensors is saved.");
  }

  part.pace.append(slow.element);
  part.pace.onchange = () => order("pace", slow.value);
  part.settings.append(settings.element);
  part.settings.onchange = start; // a change makes a new model
  part.vocabulary.append(data.words.join(" "));
  part.examples.append(...data.examples.map((one) => button(one.text, () => {
    text.value = one.text;
    ask();
  })));
  part.ideas.append(...IDEAS.map((idea) => button(idea[0], () => take(idea))));
  text.value = data.text ?? data.examples[0].text;
  text.onchange = ask;
  part.play.onclick = ({ detail }) => detail < 2 && play(); // once for a double click
  part.again.onclick = start;
  part.once.onclick = () => order("once");
  part.save.onclick = () => order("save");
  host.classList.add("drawn");
  start();
}

/** Gives orders to the worker; `answers` are what hears it. */
function makeOrder(script, packed, answers) {
  const worker = workerOf(script);
  worker.onerror = ({ message }) => answers.failed(message);
  worker.onmessage = ({ data }) => {
    for (const [name, value] of Object.entries(data)) answers[name](value);
  };
  worker.postMessage(["data", packed]);
  return (...message) => worker.postMessage(message);
}

function summary({ looks }) {
  const { step, loss, right, said } = looks.at(-1);
  const counted = right === null ? "" : ` ${right} of 100 held-out sentences right.`;
  return `Update ${step}${step ? `, loss ${loss.toFixed(2)}` : ""}. ` +
    `The model says: ${short(said)}${counted}`;
}

const short = (said) => // a model that repeats itself goes on for long
  (said.length > 90 ? `${said.slice(0, 75)} …` : said || "(nothing)");

function write(log, { step, loss, said, right }) { // the column that stays
  const counted = step % 100 === 0 && right !== null ? `${right}` : "";
  const cells = [`${step}`, step ? loss.toFixed(2) : "", short(said), counted];
  log.prepend(html("tr", ...cells.map((text) => html("td", text))));
}

/** What draws the last look of a run: its numbers, its maps and its curve. */
function makeDrawing(part, data, example) {
  const grids = range(1, 4).map((head) => // of the heads, which are 4 at most
    grid({ label: `head ${head} of the last layer` }));
  const curve = chart({ label: "the loss", x: "updates", y: "loss" });
  part.maps.append(...grids.map(({ element }) => element));
  part.curve.append(curve.element);

  return atMostEvery(400, ({ now, last }) => {
    const look = now.looks.at(-1);
    if (!look) return;
    const { step, loss, right, said, milliseconds, frequencyLoss,
      source, sourceIds, tokens, cross } = look;
    const strange = source.filter((_, i) => sourceIds[i] === data.unknown);
    part.numbers.hidden = !step;
    sayAll(part, {
      said: short(said), step: `${step}`, loss: step ? loss.toFixed(2) : "–",
      right: `${right ?? "–"}`,
      time: step > 1 ? `${Math.ceil(SHOWN * milliseconds / step / 1000)}` : "–",
      words: strange.length ? `Not among its words: ${strange.join(", ")}.` : "",
    });
    const heads = cross.at(-1) ?? [], gold = new Set(example()?.gold);
    grids.forEach(({ element, draw }, head) => {
      element.hidden = head >= heads.length;
      element.firstChild.hidden = heads.length === 1; // its label
      const map = { rows: tokens, columns: source, weights: heads[head], gold };
      if (!element.hidden) draw(map);
    });
    const lines = Object.entries({ last, now }).filter(([, run]) => run)
      .map(([name, { looks }]) => ({ name, points: looks.filter(({ step }) => step)
        .map(({ step, loss }) => [step, loss]) }));
    const ends = lines.flatMap(({ points }) => points.map(([step]) => step));
    curve.draw({
      lines, rules: [[frequencyLoss, "word frequencies"]],
      end: Math.max(SHOWN, ...ends), top: 6, summary: summary(now),
    });
    const before = last ? `Before, in grey: ${last.says}. ${summary(last)}` : "";
    sayAll(part, { now: `Now: ${now.says}.`, before });
  });
}
