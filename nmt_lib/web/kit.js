// What the things to touch are made of: elements, sliders, choices, and their frame.
// All are ordinary form elements, so the keyboard and a screen reader can use them.

const maker = (space) => (tag, attributes = {}, ...inside) => {
  const made = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes))
    if (value != null && (value !== false || name.startsWith("aria-")))
      made.setAttribute(name, value); // aria-checked="false" says something
  made.append(...inside); // strings become text, never markup
  return made;
};
export const html = maker("http://www.w3.org/1999/xhtml");
export const svg = maker("http://www.w3.org/2000/svg");

/** Writes a text into an element, unless it is there: a screen reader hears changes. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls `draw` with the newest arguments, at most once in `gap` milliseconds: nothing
 * flashes, and a slow machine draws less often. */
export function atMostEvery(gap, draw) {
  let last = -Infinity, waiting;
  return (...newest) => {
    clearTimeout(waiting);
    const now = () => {
      last = performance.now();
      draw(...newest);
    };
    waiting = setTimeout(now, Math.max(0, last + gap - performance.now()));
  };
}

/** Calls `act` once nothing new has come for `pause` milliseconds. */
export function debounced(pause, act) {
  let waiting;
  return (...newest) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => act(...newest), pause);
  };
}

export function button(text, onPress, attributes = {}) {
  const made = html("button", { type: "button", class: "quiet", ...attributes }, text);
  made.addEventListener("click", onPress);
  return made;
}

/** A button that calls `onTick` again and again, until that returns false or the reader
 * presses it once more. Nothing moves before it is pressed. */
export function player({ label, gap = 300, onTick }) {
  let timer = 0;
  const element = button(`▶ ${label}`, () => (timer ? stop() : start()));
  function stop() {
    clearInterval(timer);
    timer = 0;
    say(element, `▶ ${label}`);
  }
  function start() {
    say(element, "❚❚ Pause");
    timer = setInterval(() => {
      if (!element.isConnected || onTick() === false) stop();
    }, gap);
  }
  return { element, stop };
}

/** Follows a pointer that is pressed on a picture: `onMove` gets its place and the one
 * before, each {x, y} from 0 to 1. For the keyboard, there is a slider beside it. */
export function drag(picture, onMove) {
  let last = null;
  const at = ({ clientX, clientY }) => {
    const { left, top, width, height } = picture.getBoundingClientRect();
    return { x: (clientX - left) / width, y: (clientY - top) / height };
  };
  picture.classList.add("drag");
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    last = at(event);
    onMove(last, last);
  });
  picture.addEventListener("pointermove", (event) => {
    if (!last) return;
    const now = at(event);
    onMove(now, last);
    last = now;
  });
  for (const end of ["pointerup", "pointercancel"])
    picture.addEventListener(end, () => { last = null; });
}

/** The frame of a thing to touch: title, what to try, its parts, its state in words,
 * and what it shows. `draw` gets {add, tell}: where to put parts, and how to say what
 * the state is now. A screen reader hears that, or more, when the reader has paused. */
export function stage(host, style, { title, tries, shows, state, given }, draw) {
  const now = html("p", { class: "readout", "aria-hidden": "true" });
  const spoken = html("p", { class: "unseen", role: "status" });
  const body = html("div", { class: "body" });
  const card = html("section", { class: "card", "aria-label": title },
    html("p", { class: "title" }, title), html("p", { class: "hint" }, tries),
    body, now, spoken, html("p", { class: "hint" }, shows));
  const speak = debounced(500, (text) => say(spoken, text));
  const tell = (text, aloud = text) => {
    say(now, text);
    speak(aloud);
  };
  host.attachShadow({ mode: "open" }).append(html("style", {}, style), card);
  draw({ add: (...parts) => body.append(...parts), tell }, state, given);
  host.classList.add("drawn");
}

/** A control has an `element`, a `value` to read, and `set` to change it from outside;
 * `onChange` is called when the reader has changed it, `onInput` while it moves. This
 * one goes through `values`, with a tick at `mark`. */
export function slider(asked) {
  const { label, values, value, mark, format = String, onChange, onInput } = asked;
  const input = html("input", { type: "range", min: 0, max: values.length - 1 });
  const output = html("output", { "aria-hidden": "true" }); // the input says it
  const text = html("label", {}, html("span", {}, label), input);
  const share = values.indexOf(mark) / (values.length - 1);
  const tick = html("i", { hidden: share < 0, style: `--at: ${share}` });
  const element = html("div", { class: "slider" }, text, output, tick);
  const show = () => {
    say(output, format(values[input.value]));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  const control = {
    element,
    get value() { return values[input.value]; },
    set(wanted) {
      input.value = values.indexOf(wanted);
      show();
    },
  };
  input.addEventListener("input", () => {
    show();
    onInput?.(control.value);
  });
  input.addEventListener("change", () => onChange?.(control.value));
  control.set(value);
  return control;
}

/** One of a few: `options` are [value, text]. */
export function choice({ label, options, value, onChange }) {
  const name = `choice-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const inputs = options.map(() => html("input", { type: "radio", name }));
  const texts = options.map(([, text], i) => html("label", {}, inputs[i], text));
  const tabs = html("span", { class: "tabs" }, ...texts);
  const legend = html("legend", {}, label);
  const element = html("fieldset", { class: "choice" }, legend, tabs);
  const control = {
    element,
    get value() { return options[inputs.findIndex(({ checked }) => checked)][0]; },
    set(wanted) {
      inputs.forEach((one, i) => { one.checked = options[i][0] === wanted; });
    },
  };
  element.addEventListener("change", () => onChange?.(control.value));
  control.set(value);
  return control;
}

/** Yes or no. */
export function toggle({ label, value = false, onChange }) {
  const input = html("input", { type: "checkbox" });
  const element = html("label", { class: "toggle" }, input, label);
  const control = {
    element,
    get value() { return input.checked; },
    set(wanted) { input.checked = wanted; },
  };
  input.addEventListener("change", () => onChange?.(control.value));
  control.set(value);
  return control;
}
