// What the things to touch are made of: elements, controls, and their frame.
// All are ordinary form elements, so the keyboard and a screen reader can use them.

const elementOf = (part) => part.element ?? part; // of a control or a picture

/** Makes elements, such as "p", or "p.hint" with a class. What follows is inside it:
 * texts, elements, controls and pictures; any other object holds attributes. */
const maker = (space) => (name, ...all) => {
  const [tag, ...kinds] = name.split("."), made = document.createElementNS(space, tag);
  if (kinds.length) made.setAttribute("class", kinds.join(" "));
  for (const one of all) {
    if (typeof one !== "object" || one.element || one instanceof Node)
      made.append(elementOf(one)); // strings become text, never markup
    else for (const [key, value] of Object.entries(one))
      if (value != null && (value !== false || key.startsWith("aria-")))
        made.setAttribute(key, value); // aria-checked="false" says something
  }
  return made;
};
export const html = maker("http://www.w3.org/1999/xhtml");
export const svg = maker("http://www.w3.org/2000/svg");

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
export const range = (first, last) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);
/** The item number i, or the nearest one. */
export const within = (list, i) => list[Math.max(0, Math.min(list.length - 1, i))];

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

/** The same of elements by their names. */
export function sayAll(part, texts) {
  for (const [name, text] of Object.entries(texts)) say(part[name], text);
}

/** A worker that runs a script. */
export const workerOf = (script) =>
  new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));

/** Calls `draw` at most once in `gap` milliseconds: nothing flashes, and a slow machine
 * draws less often. */
export function atMostEvery(gap, draw) {
  let last = -Infinity, waiting;
  return (...what) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      last = performance.now();
      draw(...what);
    }, last + gap - performance.now());
  };
}

/** `inside` is a text, an element or a list of them. */
export function button(inside, onPress, attributes = {}) {
  const made = html("button", { type: "button", ...attributes }, ...[inside].flat());
  made.onclick = onPress;
  return made;
}

const STEPS = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
  Home: [-1e6, 0], End: [1e6, 0],
};

/** Arrow keys move among the buttons of a part, which `rowsOf` gives as rows, and Tab
 * reaches one of them; `onMove` hears where the reader is now. */
export function onArrows(part, rowsOf, onMove = () => {}) {
  part.addEventListener("keydown", (event) => {
    const [right, down] = STEPS[event.key] ?? [];
    const rows = rowsOf(), row = rows.findIndex((row) => row.includes(event.target));
    if (row < 0 || !STEPS[event.key] || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const column = rows[row].indexOf(event.target);
    const next = within(within(rows, row + down), column + right);
    event.preventDefault();
    event.stopPropagation();
    reach(rows.flat(), next);
    next.focus();
    onMove(next);
  });
}

/** Of some buttons, Tab reaches one. */
export function reach(buttons, chosen) {
  for (const one of buttons) one.tabIndex = one === chosen ? 0 : -1;
}

/** Draws a template in a host, and gives the elements that change, which it marks by
 * `data-part`, by name. */
export function fromTemplate(host, template) {
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = template;
  const parts = [...root.querySelectorAll("[data-part]")];
  return Object.fromEntries(parts.map((part) => [part.dataset.part, part]));
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
  picture.onpointerdown = (event) => {
    picture.setPointerCapture(event.pointerId);
    last = null;
    follow(event);
  };
  picture.onpointermove = (event) => {
    if (picture.hasPointerCapture(event.pointerId)) follow(event);
  };
}

/** The frame of a thing to touch: title, what to try, its parts, its state in words,
 * and what it shows. `draw` gets {add, tell}: where to put parts, and how to say what
 * the state is now. A screen reader hears that, or more, when the reader has paused.
 * `draw` returns what shows the state; that is called whenever a control has moved. */
export function stage(host, style, { title, tries, shows, state, given }, draw) {
  const now = html("p.readout", { "aria-hidden": "true" });
  const spoken = html("p.unseen", { role: "status" });
  const body = html("div.body");
  const card = html("section.card", { "aria-label": title },
    html("p.title", title), html("p.hint", tries),
    body, now, spoken, html("p.hint", shows));
  let waiting;
  const tell = (text, aloud = text) => {
    say(now, text);
    clearTimeout(waiting);
    waiting = setTimeout(() => say(spoken, aloud), 500);
  };
  const add = (...parts) => body.append(...parts.map(elementOf));
  host.attachShadow({ mode: "open" }).append(html("style", style), card);
  const show = draw({ add, tell }, state, given);
  body.oninput = () => show();
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
    element: html("div.controls", ...Object.values(controls), ...buttons),
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
  const text = html("label", html("span", label), input);
  const share = values.indexOf(mark) / (values.length - 1);
  const tick = html("i", { hidden: share < 0, style: `--at: ${share}` });
  const control = {
    element: html("div.slider", text, output, tick),
    get value() { return values[input.value]; },
    set(wanted) { // the nearest one
      const far = values.map((value) => Math.abs(value - wanted));
      input.value = far.indexOf(Math.min(...far));
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
  input.oninput = show;
  return control;
}

/** One of a few values, which may have texts, and longer names for a screen reader. */
export function choice({ label, texts = {}, values = Object.keys(texts), names = {} }) {
  const inputs = values.map((value) => html("input",
    { type: "radio", name: label, value, "aria-label": names[value] }));
  const tabs = html("span.tabs", ...values.map((value, i) =>
    html("label", inputs[i], ...[texts[value] ?? `${value}`].flat())));
  return {
    element: html("fieldset.choice", html("legend", label), tabs),
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
  return typed(input, html("label.toggle", input, label), "checked");
}

/** A line of text. */
export function field(label, maxlength) {
  const off = { spellcheck: "false", autocomplete: "off" };
  const input = html("input", { maxlength, ...off });
  return typed(input, html("label.field", label, input), "value");
}
