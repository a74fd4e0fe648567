// The attention viewer: which words each word looks at, in all kinds, layers and heads.

import {
  button, choice, fromTemplate, html, onArrows, range, reach, sum, svg, toggle, within,
} from "./kit.js";

export const TITLES = {
  encoder: "encoder self-attention", decoder: "decoder self-attention",
  cross: "cross-attention",
};

/** A map of weights, row by row, in eleven shades. */
export function drawMap(weights, height, width, links = []) {
  const shades = Array(11).fill("");
  const square = (i) => `M${i % width} ${Math.floor(i / width)}h1v1h-1z`;
  weights.forEach((weight, i) => { shades[Math.round(weight * 10)] += square(i); });
  const paths = shades.flatMap((d, tenth) => (d && tenth
    ? [svg("path", { d, fill: "currentColor", opacity: tenth / 10 })] : []));
  const gold = links.map(([row, column]) => square(row * width + column)).join("");
  return svg("svg", {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none",
    "aria-hidden": "true", "shape-rendering": "crispEdges",
  }, svg("path.true", { d: gold }), ...paths);
}

/** The weights of a head, from 0 to 1, one for each pair, row by row; head −1 is the
 * mean. `weights` are thousandths, [n_layers][H]. */
export function weightsOf({ weights }, layer, head) {
  const heads = head < 0 ? weights[layer] : [weights[layer][head]];
  return heads[0].map((_, i) => sum(heads.map((one) => one[i])) / heads.length / 1000);
}

const ROW = 28; // height of a word in pixels
const HINT = "Point at a word to see where it looks; click or Enter holds it. Choose " +
  "a head by its map.";
const text = (word) => html("bdi", word);

/** Draws the viewer in an element, from viewer.html: data holds {kinds, start: {kind,
 * layer, head}, gold, off}. What it returns can be given other data; told(state) hears
 * what its reader chooses. */
export function attentionViewer(host, template, data, told = () => {}) {
  const part = fromTemplate(host, template), { lines, grid, readout, section } = part;
  const sides = { from: part.from, to: part.to };
  // seen, held: {side, index}
  const state = { ...data.start, seen: null, held: null };
  const current = () => data.kinds[state.kind];
  const links = () => (state.kind === "cross" && gold.value ? data.gold : []);
  const isOff = (layer, head) => data.off?.has(`${state.kind}-${layer}-${head}`);
  const headsOf = ([heads]) => // a mean, and what it is of, unless that is one map
    (heads.length > 1 ? [-1, ...heads.keys()] : [-1]);
  const headName = (head) => (head < 0 ? "mean of all heads" : `head ${head}`);
  const is = (word, side, index) => word?.side === side && word.index === index;
  const kinds = choice({ label: "kind of attention", values: Object.keys(data.kinds) });
  const gold = toggle("gold links");
  kinds.element.classList.add("kinds");
  gold.set(true);
  part.bar.append(kinds.element, gold.element);

  // ---------------------------------------- drawing
  function drawKind() {
    const { rows, columns, names, weights } = current();
    kinds.set(state.kind);
    gold.element.hidden = state.kind !== "cross" || !data.gold.length;
    drawWords("from", rows, names[0]);
    drawWords("to", columns, names[1]);
    const height = ROW * Math.max(rows.length, columns.length);
    lines.setAttribute("viewBox", `0 0 100 ${height}`);
    lines.style.height = `${height}px`;
    state.layer = Math.min(state.layer, weights.length - 1);
    state.head = Math.min(state.head, headsOf(weights).at(-1));
    if (state.held && !sides[state.held.side].children[state.held.index])
      state.held = null;
    drawMaps();
    drawHead();
  }

  function drawWords(side, words, name) {
    sides[side].ariaLabel = part[`${side}Name`].textContent = name;
    const small = () => html("small", { "aria-hidden": "true" });
    sides[side].replaceChildren(...words.map((word, index) =>
      button([text(word), small()], () => hold(side, index), {
        role: "option", "data-index": index, tabindex: index ? -1 : 0,
        class: /^<\w+>$/.test(word) ? "special" : "",
      })));
  }

  function drawMaps() {
    const { rows, columns, weights } = current(), heads = headsOf(weights);
    const map = (layer, head) => button(
      drawMap(weightsOf(current(), layer, head), rows.length, columns.length, links()),
      () => pick(layer, head), {
        role: "radio", class: isOff(layer, head) ? "off" : "", "data-layer": layer,
        "data-head": head, "aria-label": `layer ${layer}, ${headName(head)}`,
      });
    const widths = `repeat(${heads.length}, minmax(24px, 84px))`;
    grid.style.gridTemplateColumns = `max-content ${widths}`;
    const names = heads.map((head) => (head < 0 ? "mean" : `${head}`));
    grid.replaceChildren(...["head", ...names].map((name) => html("span", name)),
      ...weights.flatMap((_, layer) => [html("span", `layer ${layer}`),
        ...heads.map((head) => map(layer, head))]));
  }

  function drawHead() {
    const { kind, layer, head } = state, maps = [...grid.querySelectorAll("button")];
    const chosen = grid.querySelector(
      `[data-layer="${layer}"][data-head="${head}"]`);
    for (const one of maps) one.setAttribute("aria-checked", one === chosen);
    reach(maps, chosen);
    const off = isOff(layer, head) ? ", switched off: where it looked before" : "";
    part.caption.textContent =
      `${TITLES[kind]}, layer ${layer}, ${headName(head)}${off}`;
    drawWord();
  }

  function drawWord() { // the lines, the shades and the sentence in words
    const { rows, columns } = current(), chosen = state.seen ?? state.held;
    const weights = weightsOf(current(), state.layer, state.head);
    const at = (row, column) => weights[row * columns.length + column];
    const asks = chosen?.side === "from", others = asks ? columns : rows;
    const toward = chosen && others.map((_, i) =>
      (asks ? at(chosen.index, i) : at(i, chosen.index)));
    const touches = ([row, column]) =>
      !chosen || (asks ? row : column) === chosen.index;
    const curve = ([row, column], attributes) => {
      const [y, z] = [row, column].map((i) => ROW * (i + 0.5));
      return svg("path", { d: `M0 ${y}C45 ${y} 55 ${z} 100 ${z}`, ...attributes });
    };
    const pairs = rows.flatMap((_, row) => columns.map((_, column) => [row, column]));
    const least = chosen ? 0.005 : 0.05;
    const seen = pairs.filter((pair) => at(...pair) >= least && touches(pair));
    const golden = links().filter(touches).map((link) => curve(link));
    const blue = seen.map((pair) => {
      const weight = at(...pair), opacity = chosen ? 0.2 + 0.8 * weight : 0.75 * weight;
      return curve(pair, { "stroke-width": 1 + 4 * weight, opacity });
    });
    lines.replaceChildren(svg("g.true", ...golden), ...blue);
    for (const [side, list] of Object.entries(sides)) {
      [...list.children].forEach((word, index) => {
        const weight = chosen && chosen.side !== side ? toward[index] : 0;
        word.style.setProperty("--w", weight);
        word.lastChild.textContent = weight >= 0.005 ? weight.toFixed(2) : "";
        word.classList.toggle("on", is(chosen, side, index));
        word.setAttribute("aria-selected", is(state.held, side, index));
      });
    }
    if (!chosen) return readout.replaceChildren(html("span", HINT));
    const most = others.map((word, i) => [word, toward[i]])
      .filter(([, weight]) => weight >= least).sort((a, b) => b[1] - a[1]);
    const words = most.slice(0, 5).flatMap(([word, weight], i) =>
      [i ? ", " : " ", text(word), `\u00a0${weight.toFixed(2)}`]);
    readout.replaceChildren(
      html("b", text((asks ? rows : columns)[chosen.index])),
      asks ? " looks at:" : " is looked at by:",
      ...(most.length ? words : [" no word"]), most.length > 5 ? "\u00a0…" : "");
  }

  // ---------------------------------------- mouse, touch and keyboard
  kinds.element.oninput = () => {
    Object.assign(state, { kind: kinds.value, seen: null, held: null });
    drawKind();
    told(state);
  };
  gold.element.oninput = () => {
    drawMaps();
    drawHead();
  };

  function pick(layer, head) {
    Object.assign(state, { layer, head });
    drawHead();
    told(state);
  }
  const layers = () => current().weights.map((_, layer) =>
    [...grid.querySelectorAll(`[data-layer="${layer}"]`)]);
  onArrows(grid, layers, ({ dataset }) => pick(+dataset.layer, +dataset.head));
  grid.onpointermove = ({ target, clientX, clientY }) => {
    const map = target.closest("svg"), { rows, columns } = current();
    if (!map) return;
    const { left, top, width, height } = map.getBoundingClientRect();
    const { layer, head } = map.parentElement.dataset; // the weight under the pointer
    const at = (words, share) =>
      within([...words.keys()], Math.floor(words.length * share));
    const row = at(rows, (clientY - top) / height);
    const column = at(columns, (clientX - left) / width);
    const weight =
      weightsOf(current(), layer, head)[row * columns.length + column];
    readout.replaceChildren(html("b", text(rows[row])), " looks at: ",
      text(columns[column]), `\u00a0${weight.toFixed(3)}`);
  };
  grid.onpointerleave = drawWord;

  let touch = false;
  function see(side, index) {
    state.seen = index === undefined ? null : { side, index };
    drawWord();
  }
  function hold(side, index) {
    const again = is(state.held, side, index);
    state.held = again ? null : { side, index };
    see(side, again && touch ? undefined : index);
  }
  for (const [side, list] of Object.entries(sides)) {
    list.onpointerdown = ({ pointerType }) => { touch = pointerType === "touch"; };
    list.onpointerover = ({ target, pointerType }) => {
      const word = target.closest("button");
      if (word && pointerType !== "touch") see(side, +word.dataset.index);
    };
    list.onpointerleave = ({ pointerType }) => {
      if (pointerType !== "touch") see();
    };
    list.addEventListener("focusin", ({ target }) => {
      reach(list.children, target);
      see(side, +target.dataset.index);
    });
    list.addEventListener("focusout", () => see());
  }
  onArrows(part.words, () => {
    const both = Object.values(sides).map(({ children }) => [...children]);
    const longest = Math.max(...both.map(({ length }) => length));
    return range(0, longest - 1).map((i) => both.map((list) => within(list, i)));
  });
  section.onkeydown = ({ key }) => {
    if (key !== "Escape" || !(state.held || state.seen)) return;
    Object.assign(state, { seen: null, held: null });
    drawWord();
  };
  drawKind();
  return {
    state,
    update(newer) { // another translation: what was chosen stays chosen where it can
      data = newer;
      state.seen = null;
      drawKind();
    },
  };
}
