// What the things to touch are made of: elements, controls, and their frame.
// All are ordinary form elements, so the keyboard and a screen reader can use them.

const elementOf = (one) => one.element ?? one; // of a control or a picture
const maker = (space) => (tag, attributes = {}, ...inside) => {
  const made = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes))
    if (value != null && (value !== false || name.startsWith("aria-")))
      made.setAttribute(name, value); // aria-checked="false" says something
  made.append(...inside.map(elementOf)); // strings become text, never markup
  return made;
};
export const html = maker("http://www.w3.org/1999/xhtml");
export const svg = maker("http://www.w3.org/2000/svg");

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
export const range = (first, last) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

export const signed = (number) => number.toFixed(2).replace("-", "−");

/** Weights that sum to 1; a score of −∞ gets none. */
export function softmax(scores) {
  const most = Math.max(...scores, -Number.MAX_VALUE);
  const exps = scores.map((one) => Math.exp(one - most)), all = sum(exps);
  return exps.map((one) => one / (all || 1)); // zeros where all are −∞
}

/** Writes a text into an element, unless it is there: a screen reader hears changes. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls `draw` at most once in `gap` milliseconds: nothing flashes, and a slow machine
 * draws less often. */
export function atMostEvery(gap, draw) {
  let last = -Infinity, waiting;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      last = performance.now();
      draw();
    }, last + gap - performance.now());
  };
}

export function button(text, onPress, attributes = {}) {
  const made = html("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", onPress);
  return made;
}

/** A button that calls `onTick` again and again, until that returns false or the reader
 * presses it once more. Nothing moves before it is pressed. */
export function player({ label, gap = 300, onTick }) {
  let timer = 0;
  const element = button("", () => run(!timer));
  const tick = () => {
    if (!element.isConnected || onTick() === false) run(false);
  };
  function run(on) {
    clearInterval(timer);
    timer = on && setInterval(tick, gap);
    say(element, on ? "❚❚ Pause" : `▶ ${label}`);
  }
  run(false);
  return element;
}

/** Follows a pointer that is pressed on a picture: `onMove` gets its place and the one
 * before, each {x, y} from 0 to 1. For the keyboard, there is a slider beside it. */
export function drag(picture, onMove) {
  let last;
  const follow = ({ clientX, clientY }) => {
    const { left, top, width, height } = picture.getBoundingClientRect();
    const now = { x: (clientX - left) / width, y: (clientY - top) / height };
    onMove(now, last ?? now);
    last = now;
  };
  picture.classList.add("drag");
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    last = null;
    follow(event);
  });
  picture.addEventListener("pointermove", (event) => {
    if (picture.hasPointerCapture(event.pointerId)) follow(event);
  });
}

/** The frame of a thing to touch: title, what to try, its parts, its state in words,
 * and what it shows. `draw` gets {add, tell}: where to put parts, and how to say what
 * the state is now. A screen reader hears that, or more, when the reader has paused.
 * `draw` returns what shows the state; that is called whenever a control has moved. */
export function stage(host, style, { title, tries, shows, state, given }, draw) {
  const now = html("p", { class: "readout", "aria-hidden": "true" });
  const spoken = html("p", { class: "unseen", role: "status" });
  const body = html("div", { class: "body" });
  const card = html("section", { class: "card", "aria-label": title },
    html("p", { class: "title" }, title), html("p", { class: "hint" }, tries),
    body, now, spoken, html("p", { class: "hint" }, shows));
  let waiting;
  const tell = (text, aloud = text) => {
    say(now, text);
    clearTimeout(waiting);
    waiting = setTimeout(() => say(spoken, aloud), 500);
  };
  const add = (...parts) => body.append(...parts.map(elementOf));
  host.attachShadow({ mode: "open" }).append(html("style", {}, style), card);
  const show = draw({ add, tell }, state, given);
  body.addEventListener("input", () => show());
  show();
  host.classList.add("drawn");
}

// A control has an `element`, a `value` to read, and `set` to change it from outside.
// When the reader moves it, its element sends "input", and "change" when that is done.

/** Controls, by the names of the `values` that they set, and buttons behind them. */
export function panel(controls, values, ...buttons) {
  const all = Object.entries(controls);
  const set = (wanted) => all.forEach(([name, one]) => one.set(wanted[name]));
  set(values);
  return {
    element: html("div", { class: "controls" }, ...Object.values(controls), ...buttons),
    get values() { return Object.fromEntries(all.map(([name, { value }]) =>
      [name, value])); },
    set,
  };
}

/** It goes through `values`, with a tick at `mark`; `next` moves it on by one, and
 * returns false at its end. */
export function slider({ label, values, mark, format = String }) {
  const input = html("input", { type: "range", min: 0, max: values.length - 1 });
  const output = html("output", { "aria-hidden": "true" }); // the input says it
  const text = html("label", {}, html("span", {}, label), input);
  const share = values.indexOf(mark) / (values.length - 1);
  const tick = html("i", { hidden: share < 0, style: `--at: ${share}` });
  const control = {
    element: html("div", { class: "slider" }, text, output, tick),
    get value() { return values[input.value]; },
    set(wanted) {
      input.value = values.indexOf(wanted);
      show();
    },
    next() {
      if (input.value === input.max) return false;
      input.value++;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    },
  };
  function show() {
    say(output, format(control.value));
    input.setAttribute("aria-valuetext", output.textContent);
  }
  input.addEventListener("input", show);
  return control;
}

/** One of a few values, which may have texts. */
export function choice({ label, texts = {}, values = Object.keys(texts) }) {
  const inputs = values.map(() => html("input", { type: "radio", name: label }));
  const tabs = html("span", { class: "tabs" }, ...values.map((one, i) =>
    html("label", {}, inputs[i], texts[one] ?? `${one}`)));
  return {
    element: html("fieldset", { class: "choice" }, html("legend", {}, label), tabs),
    get value() { return values[inputs.findIndex(({ checked }) => checked)]; },
    set(wanted) {
      inputs.forEach((one, i) => { one.checked = values[i] === wanted; });
    },
  };
}

const typed = (input, element, key) => ({
  element,
  get value() { return input[key]; },
  set(wanted) { input[key] = wanted; },
});

/** Yes or no. */
export function toggle(label) {
  const input = html("input", { type: "checkbox" });
  return typed(input, html("label", { class: "toggle" }, input, label), "checked");
}

/** A line of text. */
export function field(label, maxlength) {
  const off = { spellcheck: "false", autocomplete: "off" };
  const input = html("input", { maxlength, ...off });
  return typed(input, html("label", { class: "field" }, label, input), "value");
}
