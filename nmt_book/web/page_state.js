// What the reader of the live page asks for, and the address that holds it.

export const BEAMS = [1, 2, 3, 4, 5]; // prefixes kept at each step
export const ALPHAS = [0, 0.6, 1, 1.4, 2]; // exponents of the length penalty
export const HEATS = [0, 0.5, 1, 1.5]; // temperatures; 0 takes the most likely word
export const MOST = 1000; // letters of a text, and entries of a list in an address
const KINDS = ["encoder", "decoder", "cross"];

/** The state that an address asks for; `start` is the state without any address. */
export function readAddress(fragment, models, start) {
  const asked = new URLSearchParams(fragment.slice(1) || start);
  const known = models.get(asked.get("model"));
  const list = (name, form = /^\d+$/) => // ids and heads are of that model
    (known && asked.get(name) || "").split("_", MOST).filter((one) => form.test(one));
  const number = (name, otherwise) =>
    /^\d{1,9}$/.test(asked.get(name)) ? +asked.get(name) : otherwise;
  const oneOf = (name, values, otherwise) =>
    values.find((value) => `${value}` === asked.get(name)) ?? otherwise;
  const model = known ?? [...models.values()][0];
  return {
    model: model.name, gone: !known && asked.has("model"),
    text: (asked.get("text") ?? model.examples[0] ?? "").slice(0, MOST),
    beam: oneOf("beam", BEAMS, 1),
    alpha: oneOf("alpha", ALPHAS, null), // null: the model's own
    heat: oneOf("heat", HEATS, 0),
    draw: number("draw", 0), // seeds the sampling
    kind: oneOf("kind", KINDS, "cross"),
    layer: number("layer", 99), // the viewer knows the last one
    head: number("head", -1), // the mean
    step: number("step", 0),
    closed: new Set(list("closed", /^(encoder|decoder|cross)-\d+-\d+$/)), // cross-3-1
    hidden: new Set(list("hidden").map(Number)), // source positions, for the decoder
    prefix: list("prefix").map(Number), // ids that the reader chose
  };
}

/** The address of a state. */
export function writeAddress(state) {
  const { model, text, kind, layer, head, beam, alpha, heat, step } = state;
  const list = (name) => [...state[name]].join("_");
  const rest = {
    beam: beam > 1 && beam, alpha: `${alpha ?? ""}`, heat, draw: heat && state.draw,
    step,
    closed: list("closed"), hidden: list("hidden"), prefix: list("prefix"),
  };
  const wanted = Object.entries(rest).filter(([, value]) => value);
  const always = Object.entries({ model, text, kind, layer, head });
  return `#${new URLSearchParams([...always, ...wanted])}`;
}

/** A question to a translator: what of the state its answer depends on. */
export function questionOf(state, changes) {
  const { model, text, beam, alpha, heat, draw, closed, hidden, prefix } = state;
  const drawn = { beam: 1, alpha: null, heat, draw };
  return {
    model, asked: text.trim(), ...(heat ? drawn : { beam, alpha, heat, draw: 0 }),
    closed: [...closed].sort(), hidden: [...hidden], prefix, ...changes,
  };
}

export const UNTOUCHED = { closed: [], hidden: [], prefix: [] };

export const isTouched = ({ closed, hidden, prefix }) =>
  closed.size + hidden.size + prefix.length > 0;

const ORDER = "model asked beam alpha heat draw closed hidden prefix".split(" ");
const PLAIN = { beam: 1, alpha: null, heat: 0, draw: 0, ...UNTOUCHED };

/** A question as a key of a map; what is missing is as on arrival. */
export const keyOf = (question) =>
  JSON.stringify(ORDER.map((name) => question[name] ?? PLAIN[name]));
