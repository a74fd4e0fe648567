// The live page: type a sentence, choose its words, switch off heads, and see what changes.
// nmt_lib/pictures/explore.py puts it into a page, behind translator.js and the attention viewer. It finds there
//   host, STYLE    the element to draw in, and page.css; model: a file in an ArrayBuffer, or null
//   data.models    [{name, title, source, target, examples, url, bytes}]: what can be asked for
//   data.stored    translations that are shown before a model is there: {model, beam, asked} and what `flat` returns
//   data.names     what the rows and columns of each kind of attention are called
//   data.ideas     [{says, address}]: changes worth trying
//   data.fragment  whether the page keeps its state in the address; data.worker: what serves it without a network

const LIMIT = 60; // subwords
const BEAMS = [1, 2, 3, 4, 5];
const models = new Map(data.models.map((model) => [model.name, model]));
const loaded = new Map(); // the translators that are here, by name
const known = new Map(); // translations, by question
const state = {}; // what the reader asks for: see `readFragment`
let shown = {}; // what is drawn: {now, open, same}
let busy = null; // the translation that is under way

// ------------------------------------------------------------------ the state, and the address that holds it
function readFragment() {
  const asked = new URLSearchParams(data.fragment ? location.hash.slice(1) : "");
  const list = (name, form = /^\d+$/) => (asked.get(name) ?? "").split("_").filter((one) => form.test(one));
  const number = (name, otherwise) => (/^\d+$/.test(asked.get(name)) ? +asked.get(name) : otherwise);
  const model = models.has(asked.get("model")) ? asked.get("model") : data.models[0].name;
  stop();
  return Object.assign(state, {
    model,
    text: asked.get("text") ?? models.get(model).examples[0],
    beam: BEAMS.includes(number("beam")) ? number("beam") : 1,
    kind: Object.hasOwn(TITLES, asked.get("kind")) ? asked.get("kind") : "cross",
    layer: number("layer", 99), // the viewer knows the last one
    head: number("head", -1), // the mean
    step: number("step", 0),
    closed: new Set(list("closed", /^(encoder|decoder|cross)-\d+-\d+$/)), // such as cross-3-1
    hidden: new Set(list("hidden").map(Number)), // source positions that the decoder may not look at
    prefix: list("prefix").map(Number), // ids that the reader chose
  });
}

function writeFragment() {
  if (!data.fragment) return;
  const { model, text, beam, kind, layer, head, step } = state;
  const said = new URLSearchParams({ model, text, kind, layer, head });
  const rest = { beam: beam > 1 ? beam : "", step: step || "" };
  for (const name of ["closed", "hidden", "prefix"]) rest[name] = [...state[name]].join("_");
  for (const [name, value] of Object.entries(rest)) if (value !== "") said.set(name, value);
  history.replaceState(null, "", `#${said}`);
}

function change(changes) {
  stop();
  if (changes.model && changes.model !== state.model) Object.assign(state, { closed: new Set() });
  if ("text" in changes) Object.assign(state, { hidden: new Set(), prefix: [], step: 0 });
  Object.assign(state, changes);
  writeFragment();
  return run();
}

// ------------------------------------------------------------------ the models
async function getModel(name, ask) { // from this browser's memory, or, if asked to, from the site
  const model = models.get(name);
  if (loaded.has(name) || model.progress) return;
  const store = await globalThis.caches?.open("nmt-live").catch(() => null);
  let stored = await store?.match(model.url);
  if (!stored && !ask) return;
  model.progress = 0.001;
  model.failed = "";
  drawOffer();
  try {
    const answer = stored ?? await fetch(model.url);
    if (!answer.ok) throw new Error(`the server says ${answer.status}`);
    const parts = [], reader = answer.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      model.progress += part.value.length / model.bytes;
      drawOffer();
    }
    const file = new Blob(parts);
    loaded.set(name, await load(await file.arrayBuffer()));
    if (store && !stored) await keep(store, model.url, file).catch(() => {}); // no room: it works until the page is left
  } catch (error) {
    model.failed = `The model could not be fetched (${error.message}).`;
    await store?.delete(model.url).catch(() => {}); // a damaged one: it is fetched again
  }
  model.progress = 0;
  run();
}

async function keep(store, url, file) { // the model; and the page with all that it needs, for a worker to serve
  await store.put(url, new Response(file));
  if (!data.worker || !navigator.serviceWorker) return;
  await navigator.serviceWorker.register(data.worker, { scope: location.pathname });
  const parts = performance.getEntriesByType("resource").map((entry) => entry.name);
  const own = parts.filter((part) => part.startsWith(location.origin) && !part.endsWith(url));
  await Promise.all([location.pathname, ...new Set(own)].map((one) => store.add(one).catch(() => {}))); // what is missing stays so
}

async function openFile(file) { // a model of the reader's own
  const name = file.name.replace(/\.safetensors$/, ""), model = { name, title: name, examples: [], bytes: file.size, url: "" };
  try {
    const translator = await load(await file.arrayBuffer()), { src_lang, tgt_lang } = translator.config.data;
    loaded.set(name, translator);
    models.set(name, { ...model, title: `${src_lang} → ${tgt_lang} (your file)`, source: src_lang, target: tgt_lang });
    say(parts.opened, "");
    drawDirections();
    change({ model: name });
  } catch (error) {
    say(parts.opened, `This file cannot be used: ${error.message}.`);
  }
}

// ------------------------------------------------------------------ questions and answers
const question = (changes) => {
  const { model, text, beam, closed, hidden, prefix } = state;
  return { model, beam, asked: text.trim(), closed: [...closed].sort(), hidden: [...hidden], prefix, ...changes };
};
const UNTOUCHED = { closed: [], hidden: [], prefix: [] };
const keyOf = ({ model, asked, beam, closed, hidden, prefix }) => JSON.stringify([model, asked, beam, closed, hidden, prefix]);
const touched = () => state.closed.size + state.hidden.size + state.prefix.length > 0;
for (const one of data.stored) known.set(keyOf({ ...one, ...UNTOUCHED }), one);

async function answer(asked, signal) { // undefined where the model is not here
  const key = keyOf(asked), translator = loaded.get(asked.model);
  if (known.has(key) || !translator) return known.get(key);
  const shut = new Set(asked.closed), columns = new Set(asked.hidden);
  const closed = (kind, layer, head, column) =>
    shut.has(`${kind}-${layer}-${head}`) || (kind === "cross" && columns.has(column));
  const found = flat(await translator.translate(asked.asked, {
    beamSize: asked.beam, prefix: asked.prefix, signal, onStep: () => new Promise((go) => setTimeout(go)),
    closed: shut.size + columns.size ? closed : undefined,
  }));
  if (known.size > 200) known.delete([...known.keys()][data.stored.length]);
  known.set(key, { ...found, model: asked.model, beam: asked.beam, asked: asked.asked });
  return known.get(key);
}

function flat({ maps, ...found }) { // a translation with its maps as the viewer reads them: thousandths, row by row
  const { source, tokens } = found;
  const words = { encoder: [source, source], decoder: [tokens, ["<sos>", ...tokens.slice(0, -1)]], cross: [tokens, source] };
  const thousandths = (head) => head.flatMap((row) => Array.from(row, (weight) => Math.round(1000 * weight)));
  const kind = ([name, layers]) => [name, {
    names: data.names[name], rows: words[name][0], columns: words[name][1],
    weights: layers.map((heads) => heads.map(thousandths)),
  }];
  return { ...found, kinds: Object.fromEntries(Object.entries(maps).map(kind)) };
}

async function run() {
  busy?.abort();
  host.setAttribute("aria-busy", "true");
  const { signal } = (busy = new AbortController()), translator = loaded.get(state.model);
  const length = translator && state.text.trim() ? translator.encode(state.text).length : 0;
  const specials = translator?.config.data.src_specials ? 2 : 1;
  state.length = Math.max(0, length - specials);
  if (!translator) getModel(state.model, false);
  else state.prefix = state.prefix.filter((id) => id > 2 && id < translator.tgtTokenizer.tokens.length);
  try {
    if (state.length <= LIMIT && state.text.trim()) {
      const now = await answer(question(), signal);
      const open = touched() && now ? await answer(question(UNTOUCHED), signal) : now;
      const closed = state.closed.size + state.hidden.size;
      const same = closed && now ? await answer(question({ ...UNTOUCHED, beam: 1, prefix: now.ids }), signal) : null;
      if (signal.aborted) return;
      shown = now ? { now, open, same } : standIn();
    }
    draw();
    host.setAttribute("aria-busy", "false");
  } catch (error) {
    if (signal.aborted) return;
    say(parts.note, `This cannot be translated: ${error.message}.`);
    host.setAttribute("aria-busy", "false");
  }
}

function standIn() { // while the model is not here: the nearest translation that is
  const ask = (changes) => known.get(keyOf(question({ ...UNTOUCHED, ...changes })));
  const now = ask({}) ?? ask({ beam: 1 }) ?? data.stored.find(({ model }) => model === state.model) ?? shown.now;
  return { now, open: now, same: null, stored: true };
}

// ------------------------------------------------------------------ the parts of the page
const parts = {}; // the elements that change, by name
const part = (name, tag, attributes = {}, ...inside) => (parts[name] = html(tag, attributes, ...inside));
const button = (attributes, ...inside) => html("button", { type: "button", ...attributes }, ...inside);
const say = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const subword = (token) => html("bdi", { class: /^<\w+>$/.test(token) ? "special" : "" },
  ...(token.startsWith("▁") && token.length > 1 ? [html("i", {}, "▁"), token.slice(1)] : [token]));
const percent = (p) => (p >= 0.9995 || p < 0.0005 ? p.toFixed(0) === "1" ? "1.00" : "<.001" : p.toFixed(p < 0.01 ? 3 : 2));
const whole = ({ logProbs }) => Math.exp(logProbs.reduce((sum, one) => sum + one, 0));

function fill(element, ...inside) { // keeps the focus on the button that is drawn again
  const at = element.contains(root.activeElement) ? root.activeElement.dataset.id : undefined;
  element.replaceChildren(...inside);
  if (at !== undefined) element.querySelector(`[data-id="${at}"]`)?.focus();
}

const root = host.attachShadow({ mode: "open" }), viewerHost = html("div", { class: "viewer" });
let viewer = null;
const MOVES = [["first word", "⇤", -1e6], ["one word back", "←", -1], ["write it word by word", "▶", 0], ["one word on", "→", 1], ["last word", "⇥", 1e6]];

root.append(html("style", {}, STYLE), part("page", "div", { class: "page" },
  part("ask", "section", { class: "card ask", "aria-label": "translate" },
    part("directions", "div", { class: "tabs", role: "radiogroup", "aria-label": "direction" }),
    html("div", { class: "pair" },
      html("div", {},
        html("label", { class: "label", for: "text" }, part("from", "span"), part("count", "small")),
        part("text", "textarea", { id: "text", dir: "auto", rows: 2, maxlength: 1000, spellcheck: "false", autocomplete: "off" }),
        part("source", "div", { class: "chips", role: "group", "aria-label": "subwords of the sentence: press one to hide it from the decoder" })),
      html("div", {},
        html("p", { class: "label" }, part("to", "span"), part("how", "small")),
        part("result", "p", { class: "result", dir: "auto", role: "status" }),
        part("versus", "p", { class: "versus", dir: "auto" }))),
    part("note", "p", { class: "note", role: "status" }),
    part("offer", "div", { class: "offer" },
      part("offerText", "p"), part("get", "button", { type: "button", class: "main" }),
      part("progress", "progress", { "aria-label": "fetching the model" })),
    part("examples", "div", { class: "examples", role: "group", "aria-label": "examples" })),
  html("div", { class: "two" },
    html("section", { class: "card", "aria-labelledby": "loop" },
      html("h2", { id: "loop" }, "Choose the next word"),
      html("p", { class: "hint" }, "The model only ever says how likely each next word is. Press another word, and the translation goes on from there."),
      html("div", { class: "steps" }, part("moves", "div", { class: "tabs" }, ...MOVES.map(([name, sign, by]) =>
        button({ value: by, "aria-label": name, title: name }, sign))), part("at", "span", { class: "at" })),
      part("written", "div", { class: "chips words", role: "group", "aria-label": "words of the translation" }),
      html("table", { class: "bars" },
        html("caption", {}, part("asks", "span")),
        html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "next word"),
          html("th", { scope: "col", colspan: 2 }, "probability"), part("was", "th", { scope: "col" }, "all open"))),
        part("bars", "tbody")),
      part("again", "button", { type: "button", class: "quiet" }, "Let the model choose again")),
    html("section", { class: "card", "aria-labelledby": "heads" },
      html("h2", { id: "heads" }, "Switch off a head"),
      html("p", { class: "hint" }, "A map suggests; an intervention decides. Each square is a head, drawn by where it looks. Press it, and it passes nothing on. A number on the left switches off a layer, a heading a whole kind."),
      part("kinds", "div", { class: "kinds" }),
      part("echo", "div", { class: "echo", "aria-hidden": "true" }),
      html("div", { class: "row" }, part("openAll", "button", { type: "button", class: "quiet" }, "Switch on all"),
        part("measure", "button", { type: "button", class: "quiet" }, "Which one matters?"), part("measured", "span", { class: "at", role: "status" })),
      ...(data.ideas ?? []).map(({ says, address }) => html("p", { class: "idea" }, html("a", { href: `#${address}` }, says))))),
  html("section", { "aria-labelledby": "maps" },
    html("h2", { id: "maps" }, "See where each word looks"), viewerHost,
    html("details", {}, html("summary", {}, "The chosen map as a table"), part("mapTable", "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "the chosen map" }))),
  html("section", { class: "card", "aria-labelledby": "beam" },
    html("h2", { id: "beam" }, "Search with a beam"),
    html("div", { class: "row" }, html("span", { id: "size" }, "prefixes kept at each step"),
      part("beams", "div", { class: "tabs", role: "radiogroup", "aria-labelledby": "size" },
        ...BEAMS.map((size) => button({ role: "radio", value: size, "aria-label": size === 1 ? "1, greedy search" : `${size}` }, `${size}`)))),
    part("beamText", "p", { class: "hint" }),
    part("tree", "div", { class: "scroll tree", tabindex: 0, role: "region", "aria-label": "the search tree" }),
    html("details", {}, html("summary", {}, "The tree as a table"), part("treeTable", "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "the candidates" }))),
  html("details", { class: "own" }, html("summary", {}, "A model of your own"),
    html("p", {}, html("label", { for: "file" }, "Training writes one file, model.safetensors, into the folder of its run. Open it here: it stays on your computer. "),
      part("file", "input", { id: "file", type: "file", accept: ".safetensors" })), part("opened", "p", { role: "status" }))));

// ------------------------------------------------------------------ drawing
function draw() {
  drawAsk();
  drawOffer();
  if (!shown.now?.tokens.length) return;
  state.step = Math.min(state.step, shown.now.tokens.length - 1);
  drawLoop();
  drawHeads();
  drawMaps();
  drawTree();
}

function drawDirections() {
  parts.directions.replaceChildren(...[...models.values()].map(({ name, title, source, target }) =>
    button({ role: "radio", value: name, "aria-label": title }, html("span", {}, title), html("span", { class: "short" }, `${source} → ${target}`))));
}

function drawAsk() {
  const { now, open, stored } = shown, model = models.get(state.model), { source = "", target = "" } = model;
  for (const one of parts.directions.children) check(one, one.value === state.model);
  if (parts.text.value !== state.text) parts.text.value = state.text;
  parts.text.lang = source;
  say(parts.from, languages.of(source) || "Sentence");
  say(parts.to, languages.of(target) || "Translation");
  fill(parts.examples, ...(model.examples.length ? [html("span", {}, "Try")] : []), ...model.examples.map((text, i) =>
    button({ class: "example", lang: source, dir: "auto", "aria-pressed": text === state.text, "data-id": i }, text)));
  const apart = stored && now.asked !== state.text.trim(); // what is shown is of another sentence
  const unknown = now?.sourceIds.filter((id) => id === UNK).length;
  fill(parts.source, ...(now?.source ?? []).map((token, i) => button({
    class: now.sourceIds[i] === UNK ? "chip unknown" : "chip", "aria-pressed": state.hidden.has(i), "data-id": i,
    title: now.sourceIds[i] === UNK ? "not in the vocabulary: the model sees <unk>" : "press to hide it from the decoder",
  }, subword(token))));
  say(parts.count, loaded.has(state.model) ? `${state.length} of ${LIMIT} subwords` : "");
  say(parts.note, noteOf(unknown, apart));
  parts.result.lang = parts.versus.lang = target;
  parts.result.classList.toggle("apart", Boolean(apart));
  const line = marked(now?.text ?? "", touched() && !stored ? open.text : null), holder = html("p", {}, ...line.map((one) => one.cloneNode?.(true) ?? one));
  if (parts.result.innerHTML !== holder.innerHTML) parts.result.replaceChildren(...line); // else a screen reader would say it again
  for (const [chips, text] of [[parts.source, parts.text], [parts.written, parts.result]]) chips.dir = getComputedStyle(text).direction;
  say(parts.how, !now ? "" : `${stored ? "stored · " : ""}probability ${percent(whole(now))}`);
  const changed = touched() && !stored, before = `before, probability ${percent(whole(open ?? now))}`;
  parts.versus.hidden = !changed;
  if (!changed) return parts.echo.replaceChildren(html("small", {}, stored ? "With the model here, this shows what a head that is switched off changes." : "Switch off a head, and see here what it changes."));
  parts.versus.replaceChildren(html("small", { lang: "en" }, before), open.text);
  parts.echo.replaceChildren(html("small", {}, before), html("p", {}, open.text), html("small", {}, `now, probability ${percent(whole(now))}`), holder);
}

function noteOf(unknown, apart) {
  if (state.length > LIMIT)
    return `That makes ${state.length} subwords. This page reads ${LIMIT} at most: the model has learnt from captions of about a dozen words. A shorter sentence will come out better, too.`;
  if (!state.text.trim()) return "Write a sentence, or take one of the examples.";
  if (apart) return `Until the model is here, this is the stored translation of “${shown.now.asked}”`;
  if (unknown) return `${unknown === 1 ? "One subword is" : `${unknown} subwords are`} not in the vocabulary (dashed): all that the model sees there is <unk>.`;
  return "";
}

function marked(text, before) { // words that are new are marked
  if (before === null) return [text];
  const words = text.split(" "), others = before.split(" ");
  const common = words.map(() => []).concat([[]]);
  for (let i = words.length; i >= 0; i--) for (let j = others.length; j >= 0; j--)
    common[i][j] = i === words.length || j === others.length ? 0
      : words[i] === others[j] ? 1 + common[i + 1][j + 1] : Math.max(common[i + 1][j], common[i][j + 1]);
  const out = [];
  for (let i = 0, j = 0; i < words.length;) {
    if (words[i] === others[j]) out.push(words[i++]), j++;
    else if (j < others.length && common[i][j + 1] >= common[i + 1][j]) j++;
    else out.push(html("mark", {}, words[i++]));
  }
  return out.flatMap((one, i) => (i ? [" ", one] : [one]));
}

function drawOffer() {
  const { bytes, progress, failed, url } = models.get(state.model), size = `${(bytes / 1e6).toFixed(1)} MB`;
  parts.offer.hidden = loaded.has(state.model);
  if (parts.offer.hidden) return;
  const asked = touched() || (shown.now && shown.now.beam !== state.beam); // by something further down the page
  if (parts.offer.parentNode !== (asked ? parts.page : parts.ask)) asked ? parts.page.append(parts.offer) : parts.examples.before(parts.offer);
  const why = asked ? "To see what this changes, your browser needs" : "To translate your own sentences, your browser needs";
  say(parts.offerText, failed ? `${failed} ${location.protocol === "file:" ? "A page from a folder may not read other files: open the model below, under “A model of your own”." : ""}`
    : `${why} the model: ${size}, once. It is kept here and works offline; what you type never leaves this page.`);
  say(parts.get, progress ? `${(Math.min(1, progress) * bytes / 1e6).toFixed(1)} of ${size}` : `Get the model (${size})`);
  parts.get.disabled = Boolean(progress) || !url;
  parts.progress.hidden = !progress;
  parts.progress.value = Math.min(1, progress || 0);
}

const lengths = new Map(); // of the bars, by id

function drawLoop() {
  const { now, same } = shown, { tokens, steps, logProbs, ids } = now, t = state.step;
  say(parts.at, `word ${t + 1} of ${tokens.length}`);
  fill(parts.written, html("span", { class: "chip special" }, "<sos>"), ...tokens.map((token, i) => {
    const kind = i === t ? "chip now" : i > t ? "chip later" : "chip";
    const name = `${i + 1}: ${token}, probability ${percent(Math.exp(logProbs[i]))}${i < state.prefix.length ? ", chosen by you" : ""}`;
    const made = button({ class: i < state.prefix.length ? `${kind} mine` : kind, "data-id": i, tabindex: i === t ? 0 : -1, "aria-label": name, "aria-pressed": i === t }, subword(token));
    made.style.setProperty("--p", Math.exp(logProbs[i]));
    return made;
  }));
  say(parts.asks, `After ${["<sos>", ...tokens.slice(0, t)].slice(-3).join(" ").replaceAll("▁", "")}, the most likely of all next words`);
  parts.was.hidden = !same;
  fill(parts.bars, ...steps[t].map(({ id, token, p }) => {
    const old = same?.steps[t]?.find((one) => one.id === id)?.p;
    const bar = html("div", { class: "bar" });
    bar.style.setProperty("--p", lengths.get(id) ?? p); // from its old length to the new one
    requestAnimationFrame(() => bar.offsetWidth && bar.style.setProperty("--p", p));
    lengths.set(id, p);
    if (same) bar.append(html("b")), bar.style.setProperty("--old", old ?? 0);
    const mine = t < state.prefix.length && id === ids[t];
    return html("tr", { class: id === ids[t] ? mine ? "taken mine" : "taken" : "" },
      html("th", { scope: "row" }, button({ "data-id": id, "aria-pressed": id === ids[t] }, subword(token))),
      html("td", { class: "wide" }, bar), html("td", {}, percent(p)),
      ...(same ? [html("td", { class: "faint" }, old === undefined ? "–" : percent(old))] : []));
  }));
  parts.again.hidden = !state.prefix.length;
}

const headsOf = (kind, layer) => { // the names of the heads of a kind, or of one of its layers
  const layers = [...shown.now.kinds[kind].weights.entries()].filter(([i]) => layer === undefined || i === layer);
  return layers.flatMap(([i, heads]) => heads.map((_, head) => `${kind}-${i}-${head}`));
};

function drawHeads() {
  const { now, open } = shown, impact = impacts.get(keyOf(question(UNTOUCHED)));
  fill(parts.kinds, ...Object.keys(TITLES).map((kind) => {
    const { weights } = now.kinds[kind], all = headsOf(kind);
    const whole = (names, label, text) => button({ class: "whole", "data-id": names.join(" "),
      "aria-pressed": names.every((name) => state.closed.has(name)), "aria-label": `switch off ${label}` }, text);
    return html("table", { "data-kind": kind },
      html("caption", {}, whole(all, `all of ${TITLES[kind]}`, kind)),
      html("thead", {}, html("tr", {}, html("td"), ...weights[0].map((_, head) => html("th", { scope: "col" }, `${head}`)))),
      html("tbody", {}, ...weights.map((heads, layer) => html("tr", {},
        html("th", { scope: "row" }, whole(headsOf(kind, layer), `${kind}, layer ${layer}`, `${layer}`)),
        ...heads.map((_, head) => {
          const name = `${kind}-${layer}-${head}`, shut = state.closed.has(name), { rows, columns, weights } = (shut ? open : now).kinds[kind];
          const fall = impact?.get(name);
          const says = `${kind}, layer ${layer}, head ${head}${fall === undefined ? "" : `: without it, log P falls by ${fall.toFixed(2)}`}`;
          const made = button({ class: "switch", role: "switch", "aria-checked": !shut, "aria-label": says, title: says, "data-id": name, tabindex: -1 },
            drawMap(weights[layer][head].map((one) => one / 1000), rows.length, columns.length));
          if (fall !== undefined) made.style.setProperty("--fall", Math.min(1, Math.max(0, fall) / 1.5));
          return html("td", {}, made);
        })))));
  }));
  for (const table of parts.kinds.children) (table.querySelector("[data-id]:focus.switch") ?? table.querySelector(".switch")).tabIndex = 0;
  parts.openAll.hidden = !touched();
  say(parts.openAll, state.closed.size ? `Switch on all (${state.closed.size} off)` : "Undo all");
}

function drawMaps() {
  const { kinds } = shown.now, { kind, layer, head } = state;
  if (!viewer) {
    viewer = attentionViewer(viewerHost, { kinds, gold: [], start: { kind, layer, head } }, (chosen) => {
      Object.assign(state, { kind: chosen.kind, layer: chosen.layer, head: chosen.head });
      writeFragment();
      drawMapTable();
    });
  } else {
    Object.assign(viewer.state, { kind, layer, head });
    viewer.update({ kinds, gold: [] });
  }
  Object.assign(state, { layer: viewer.state.layer, head: viewer.state.head });
  drawMapTable();
}

function drawMapTable() {
  const { rows, columns, weights } = shown.now.kinds[state.kind], heads = weights[state.layer];
  const at = (i) => (state.head < 0 ? heads.reduce((sum, one) => sum + one[i], 0) / heads.length : heads[state.head][i]) / 1000;
  const cells = (row) => columns.map((_, column) => html("td", {}, at(row * columns.length + column).toFixed(2).replace(/^0.00$/, "")));
  parts.mapTable.replaceChildren(table(["", ...columns], rows.map((word, row) => [word, ...cells(row)])));
}

const table = (head, rows) => html("table", { class: "numbers" },
  html("thead", {}, html("tr", {}, ...head.map((name) => (name ? html("th", { scope: "col" }, name) : html("td"))))),
  html("tbody", {}, ...rows.map(([first, ...others]) => html("tr", {}, html("th", { scope: "row" }, first),
    ...others.map((one) => (one instanceof Node ? one : html("td", {}, one)))))));

function drawTree() {
  const { ids, beam } = shown.now, [W, H] = [104, 40], trace = shown.now.trace.filter(({ step }) => step <= ids.length + 1);
  const further = (shown.now.trace.at(-1)?.step ?? 0) - ids.length - 1;
  for (const one of parts.beams.children) check(one, +one.value === state.beam);
  const tree = beam > 1 && trace.length > 0;
  parts.tree.hidden = parts.treeTable.parentElement.hidden = !tree;
  say(parts.beamText, tree ? "A column is a step, a box a candidate with the log-probability of its whole path. Blue goes on, green is finished, grey is dropped; the thick path wins."
    + (further > 0 ? ` (The search went ${further} steps further, and found nothing better.)` : "")
    : beam !== state.beam ? "With the model here, this shows the search tree." : "Greedy search keeps one prefix: it takes the most likely word and never takes it back. With a beam of two or more, the search becomes a tree.");
  if (!tree) return;
  const steps = trace.reduce((all, one) => all.set(one.step, [...(all.get(one.step) ?? []), one]), new Map());
  const tall = H * Math.max(...[...steps.values()].map((column) => column.length)), middle = new Map([["", tall / 2]]);
  const lines = svg("g"), boxes = svg("g"), best = ids.join();
  const box = (x, y, kind, ...texts) => boxes.append(svg("g", { class: kind, transform: `translate(${x} ${y})` },
    svg("rect", { x: 4, y: 3 - H / 2, width: W - 24, height: H - 6, rx: 6 }),
    ...texts.map((text, i) => svg("text", { x: (W - 16) / 2, y: 14 * i - (texts.length > 1 ? 2 : -4) }, text.length > 11 ? `${text.slice(0, 10)}…` : text))));
  box(0, tall / 2, "start", "<sos>");
  for (const [step, column] of steps) {
    const parent = ({ prefix }) => middle.get(prefix.join());
    column.sort((a, b) => parent(a) - parent(b) || b.logProb - a.logProb); // in the order of their parents: no lines cross
    column.forEach((one, i) => {
      const path = [...one.prefix, one.id].join(), y = tall / 2 + H * (i - (column.length - 1) / 2), x = step * W;
      const kind = `${one.fate}${`${best},`.startsWith(`${path},`) ? " best" : ""}`, from = parent(one);
      lines.append(svg("path", { class: kind, d: `M${x - 20} ${from}C${x - 6} ${from} ${x - 10} ${y} ${x + 4} ${y}` }));
      box(x, y, kind, one.token, one.logProb.toFixed(2));
      middle.set(path, y);
    });
  }
  const width = W * (steps.size + 1) - 12;
  parts.tree.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${tall}`, width, height: tall, "aria-hidden": "true" }, lines, boxes));
  const word = new Map(trace.map(({ id, token }) => [id, token]));
  parts.treeTable.replaceChildren(table(["step", "after", "word", "log P", "fate"], trace.map(({ step, prefix, token, logProb, fate }) =>
    [`${step}`, prefix.map((id) => word.get(id)).join("").replaceAll("▁", " ").trim() || "<sos>", token, logProb.toFixed(2), fate])));
}

// ------------------------------------------------------------------ which head matters?
const impacts = new Map(); // by question: head → how far log P of the same words falls without it

async function measure() {
  const asked = question({ ...UNTOUCHED, beam: 1 }), falls = new Map();
  const open = await answer({ ...asked, beam: state.beam });
  if (!loaded.has(asked.model)) return change({});
  const names = Object.keys(TITLES).flatMap((kind) => headsOf(kind)), sum = ({ logProbs }) => logProbs.reduce((a, b) => a + b);
  for (const name of names) {
    say(parts.measured, `${falls.size} of ${names.length}`);
    const shut = (kind, layer, head) => name === `${kind}-${layer}-${head}`;
    const found = await loaded.get(asked.model).translate(asked.asked, { closed: shut, prefix: open.ids });
    falls.set(name, sum(open) - sum(found));
    await new Promise((go) => setTimeout(go));
    if (keyOf(question({ ...UNTOUCHED, beam: 1 })) !== keyOf(asked)) return say(parts.measured, "");
  }
  impacts.set(keyOf({ ...asked, beam: state.beam }), falls);
  const [worst] = [...falls].sort((a, b) => b[1] - a[1]);
  say(parts.measured, `The redder, the more it matters; most of all ${worst[0].replaceAll("-", " ")}.`);
  drawHeads();
}

// ------------------------------------------------------------------ mouse, finger and keyboard
const languages = { of(code) { try { return code && new Intl.DisplayNames("en", { type: "language" }).of(code); } catch { return code; } } };
const pressed = (element, choose) => element.addEventListener("click", (event) => {
  const one = event.target.closest("button, tr");
  if (one && element.contains(one)) choose(one.tagName === "TR" ? one.querySelector("button") : one);
});
const toggled = (set, names, on) => names.reduce((all, name) => (on ? all.add(name) : all.delete(name), all), new Set(set));
let typing = 0, playing = 0;

const stop = () => { playing = clearInterval(playing); };

function goTo(step) {
  state.step = within([...shown.now.tokens.keys()], step);
  writeFragment();
  drawLoop();
  if (viewer && state.kind !== "encoder") viewer.choose({ held: { side: "from", index: state.step } });
}

function play() {
  const end = shown.now.tokens.length - 1;
  if (playing) return stop();
  goTo(state.step === end ? 0 : state.step);
  playing = setInterval(() => (state.step < end ? goTo(state.step + 1) : stop()), 700);
}

const chooseModel = (one) => {
  if (one && one.value !== state.model) change({ model: one.value, text: models.get(one.value).examples[0] ?? state.text });
  return one;
};
pressed(parts.directions, chooseModel);
onArrows(parts.directions, (buttons, i, x, y) => chooseModel(within(buttons, i + x + y)));
const chooseBeam = (one) => (one && change({ beam: +one.value, step: 0 }), one);
pressed(parts.beams, chooseBeam);
onArrows(parts.beams, (buttons, i, x, y) => chooseBeam(within(buttons, i + x + y)));
pressed(parts.examples, (one) => change({ text: one.textContent }));
pressed(parts.get, () => getModel(state.model, true));
pressed(parts.source, (one) => change({ hidden: toggled(state.hidden, [+one.dataset.id], !state.hidden.has(+one.dataset.id)), prefix: [] }));
pressed(parts.moves, (one) => {
  if (one.value === "0") return play();
  stop();
  goTo(state.step + Number(one.value));
});
pressed(parts.written, (one) => (stop(), goTo(+one.dataset.id)));
onArrows(parts.written, (buttons, i, x, y) => (goTo(i + x + y), parts.written.querySelector(`[data-id="${state.step}"]`)));
pressed(parts.bars, (one) => change({ prefix: [...shown.now.ids.slice(0, state.step), +one.dataset.id] }));
pressed(parts.again, () => change({ prefix: [] }));
pressed(parts.openAll, () => change({ closed: new Set(), hidden: new Set(), prefix: [] }));
pressed(parts.measure, measure);
pressed(parts.kinds, (one) => {
  const names = one.dataset.id.split(" "), [kind, layer, head] = names[0].split("-");
  if (names.length === 1) Object.assign(state, { kind, layer: +layer, head: +head });
  change({ closed: toggled(state.closed, names, !names.every((name) => state.closed.has(name))) });
});
parts.kinds.addEventListener("keydown", (event) => {
  if (!STEPS[event.key] || !event.target.matches(".switch")) return;
  event.preventDefault();
  const [x, y] = STEPS[event.key], [kind, layer, head] = event.target.dataset.id.split("-");
  const weights = shown.now.kinds[kind].weights, row = within([...weights.keys()], +layer + y), column = within([...weights[0].keys()], +head + x);
  const next = parts.kinds.querySelector(`[data-id="${kind}-${row}-${column}"]`);
  for (const one of next.closest("table").querySelectorAll(".switch")) one.tabIndex = one === next ? 0 : -1;
  next.focus();
});
parts.text.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => change({ text: parts.text.value }), 250);
});
parts.text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.isComposing) event.preventDefault(), change({ text: parts.text.value });
});
parts.file.addEventListener("change", () => openFile(parts.file.files[0]));
if (data.fragment) addEventListener("hashchange", () => { readFragment(); run(); });

host.classList.add("drawn");
drawDirections();
readFragment();
if (model) load(model).then((translator) => { loaded.set(data.models[0].name, translator); run(); });
else run();
