const node =
  (space) =>
  (tag, attributes = {}, ...inside) => {
    const made = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes))
      made.setAttribute(name, value);
    made.append(...inside); // strings become text, never markup
    return made;
  };
export const html = node("http://www.w3.org/1999/xhtml");
export const svg = node("http://www.w3.org/2000/svg");

export const TITLES = {
  encoder: "encoder self-attention",
  decoder: "decoder self-attention",
  cross: "cross-attention",
};

// A map of weights, row by row, in eleven shades.
export function drawMap(weights, height, width, links = []) {
  const shades = Array(11).fill("");
  const square = (i) => `M${i % width} ${Math.floor(i / width)}h1v1h-1z`;
  weights.forEach((weight, i) => {
    shades[Math.round(weight * 10)] += square(i);
  });
  const paths = shades.flatMap((d, tenth) =>
    d && tenth ? [svg("path", { d, fill: "currentColor", opacity: tenth / 10 })] : [],
  );
  const gold = svg("path", {
    class: "true",
    d: links.map(([row, column]) => square(row * width + column)).join(""),
  });
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
      "shape-rendering": "crispEdges",
    },
    gold,
    ...paths,
  );
}

export function check(button, yes) {
  // of a group, the checked one is reached by Tab
  button.setAttribute("aria-checked", yes);
  button.tabIndex = yes ? 0 : -1;
}

export const STEPS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  Home: [-1e6, 0],
  End: [1e6, 0],
};
export function onArrows(part, move) {
  part.addEventListener("keydown", (event) => {
    if (!STEPS[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const buttons = [...part.querySelectorAll("button")];
    move(buttons, buttons.indexOf(event.target), ...STEPS[event.key])?.focus();
  });
}
export const within = (list, i) => list[Math.max(0, Math.min(list.length - 1, i))];

// Draws the attention viewer in an element: data holds
// {kinds, start: {kind, layer, head}, gold}. The viewer that it returns can be given
// other data; told(state) hears what its reader chooses.
export function attentionViewer(host, data, told = () => {}) {
  const CSS = `
    :host { display: block; container-type: inline-size; contain-intrinsic-width: 340px;
      max-width: 60rem; margin: .25rem 0; }
    * { box-sizing: border-box; }
    section { background: var(--paper); color: var(--ink); border: 1px solid
      var(--edge); border-radius: 10px;
      padding: 12px 14px; font: 14px/1.4 system-ui, sans-serif; text-align: left; }
    button { font: inherit; color: inherit; background: none; border: 0; margin: 0;
      padding: 0; cursor: pointer; }
    :focus-visible { outline: 2px solid var(--blue); outline-offset: 1px; }
    .bar { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center;
      margin-bottom: 10px; }
    .kinds { display: inline-flex; background: var(--soft); border: 1px solid
      var(--edge); border-radius: 8px; padding: 2px; }
    .kinds button { padding: 3px 12px; border-radius: 6px; color: var(--faint); }
    .kinds [aria-checked=true] { background: var(--paper); color: var(--ink);
      font-weight: 600; box-shadow: 0 0 0 1px var(--edge); }
    .gold { display: inline-flex; gap: 6px; align-items: center; cursor: pointer;
      min-height: 24px; }
    .gold i { width: 22px; height: 10px; border-radius: 5px; background: var(--gold);
      opacity: .7; }
    .panes { display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px 24px; }
    @container (max-width: 380px) {
      section { padding: 10px 8px; }
      .side button { gap: 4px; padding: 0 5px; }
      .side small { font-size: 11px; }
      .row { grid-template-columns: minmax(0, 1fr) minmax(40px, .4fr) minmax(0, 1.1fr);
        }
      .top :nth-child(2) { overflow: hidden; white-space: nowrap; }
    }
    @container (min-width: 620px) {
      .panes { grid-template-columns: repeat(2, minmax(0, 1fr)); grid-template-rows:
        auto 1fr; }
      .words { grid-column: 1; grid-row: 1 / 3; }
      .maps { grid-column: 2; grid-row: 1; }
    }
    .row { display: grid; grid-template-columns: minmax(0, 1fr) minmax(48px, .8fr)
      minmax(0, 1fr); }
    .row.top { color: var(--faint); font-size: 12px; margin-bottom: 4px; align-items:
      end; }
    .top :first-child { text-align: right; padding-right: 8px; }
    .top :nth-child(2) { text-align: center; }
    .top :last-child { padding-left: 8px; }
    .side button { position: relative; isolation: isolate; display: flex; gap: 8px;
      align-items: center; width: 100%; height: 28px;
      padding: 0 8px; border-radius: 6px; }
    .side button::before { content: ""; position: absolute; inset: 1px 0; z-index: -1;
      border-radius: 6px; background: var(--blue);
      opacity: calc(var(--w, 0) * .45); }
    .side bdi { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
    .side small { color: var(--ink); font-size: 12px; font-variant-numeric:
      tabular-nums; }
    .from button { justify-content: flex-start; flex-direction: row-reverse; }
    .from small { margin-right: auto; }
    .to small { margin-left: auto; }
    .special { color: var(--faint); }
    .on { font-weight: 600; background: var(--soft); }
    .side [aria-selected=true] { box-shadow: inset 0 0 0 2px var(--blue); }
    .lines { width: 100%; display: block; overflow: visible; }
    .lines path { fill: none; vector-effect: non-scaling-stroke; stroke: var(--blue);
      stroke-linecap: round; }
    .lines .true { opacity: .7; }
    .lines .true path { stroke: var(--gold); stroke-width: 9; }
    .caption { margin: 0 0 6px; font-weight: 600; }
    .caption::first-letter { text-transform: uppercase; }
    .scroll { overflow-x: auto; padding: 3px; margin: -3px; }
    .grid { display: grid; gap: 4px; align-items: center; color: var(--faint);
      font-size: 12px; text-align: center; }
    .grid button { display: block; padding: 3px; border: 1px solid var(--edge);
      border-radius: 5px; background: var(--paper); overflow: hidden; }
    .grid button:hover { border-color: var(--blue); }
    .grid [aria-checked=true] { border-color: var(--blue); box-shadow: 0 0 0 2px
      var(--blue); }
    .grid .off { background: repeating-linear-gradient(135deg, color-mix(in srgb,
      var(--gold) 45%, transparent) 0 2px, transparent 2px 6px); }
    .grid .off svg { opacity: .45; }
    .grid svg { display: block; width: 100%; max-height: 92px; color: var(--blue); }
    .grid .true { fill: none; stroke: var(--gold); stroke-width: .25; shape-rendering:
      auto; }
    .readout { margin: 0; padding: 8px 12px; min-height: calc(2.8em + 16px); align-self:
      start; overflow-wrap: anywhere;
      background: var(--soft); border-radius: 8px; }
    .readout span { color: var(--faint); }
    @media (forced-colors: active) { .side [aria-selected=true], .grid
      [aria-checked=true], .kinds [aria-checked=true] { outline: 2px solid Highlight; }
      }`;
  const ROW = 28; // height of a word in pixels
  // seen, held: {side, index}; head −1: the mean
  const state = { ...data.start, seen: null, held: null, gold: true };

  // ---------------------------------------- numbers
  const current = () => data.kinds[state.kind];
  const links = () => (state.kind === "cross" && state.gold ? data.gold : []);
  const weightsOf = (layer, head) => {
    // one number for each pair, row by row
    const heads = current().weights[layer];
    const sum = (i) => heads.reduce((total, one) => total + one[i], 0) / heads.length;
    return (head < 0 ? heads[0].map((_, i) => sum(i)) : heads[head]).map(
      (thousandths) => thousandths / 1000,
    );
  };
  const isOff = (layer, head) => data.off?.has(`${state.kind}-${layer}-${head}`);
  const headName = (head) => (head < 0 ? "mean of all heads" : `head ${head}`);

  // ---------------------------------------- the parts that stay
  const kinds = html("div", {
    class: "kinds",
    role: "radiogroup",
    "aria-label": "kind of attention",
  });
  const goldBox = html("input", { type: "checkbox" });
  const goldLabel = html("label", { class: "gold" }, goldBox, html("i"), "gold links");
  const sides = {
    from: html("div", { class: "side from", role: "listbox" }),
    to: html("div", { class: "side to", role: "listbox" }),
  };
  const titles = [html("span"), html("span", {}, "looks at →"), html("span")];
  const lines = svg("svg", {
    class: "lines",
    "aria-hidden": "true",
    preserveAspectRatio: "none",
  });
  const caption = html("p", { class: "caption" });
  const grid = html("div", {
    class: "grid",
    role: "radiogroup",
    "aria-label": "layer and head",
  });
  const readout = html("p", { class: "readout", role: "status" });
  goldBox.checked = true;

  // ---------------------------------------- drawing
  function drawKind() {
    const { rows, columns, names, weights } = current();
    for (const button of kinds.children) check(button, button.value === state.kind);
    goldLabel.hidden = state.kind !== "cross" || !data.gold.length;
    goldLabel.style.display = goldLabel.hidden ? "none" : "";
    titles[0].textContent = names[0];
    titles[2].textContent = names[1];
    for (const [side, words, name] of [
      ["from", rows, names[0]],
      ["to", columns, names[1]],
    ]) {
      sides[side].setAttribute("aria-label", name);
      sides[side].replaceChildren(
        ...words.map((word, index) =>
          html(
            "button",
            {
              type: "button",
              role: "option",
              "data-index": index,
              tabindex: index ? -1 : 0,
              class: /^<\w+>$/.test(word) ? "special" : "",
            },
            html("bdi", {}, word),
            html("small", { "aria-hidden": "true" }),
          ),
        ),
      );
    }
    const height = ROW * Math.max(rows.length, columns.length);
    lines.setAttribute("viewBox", `0 0 100 ${height}`);
    lines.style.height = `${height}px`;
    state.layer = Math.min(state.layer, weights.length - 1);
    state.head = Math.min(state.head, weights[0].length - 1);
    if (
      state.held &&
      state.held.index >= (state.held.side === "from" ? rows : columns).length
    )
      state.held = null;
    drawMaps();
    drawHead();
  }

  function drawMaps() {
    const { rows, columns, weights } = current();
    const heads = [-1, ...weights[0].keys()];
    const maps = `repeat(${heads.length}, minmax(24px, 84px))`;
    grid.style.gridTemplateColumns = `max-content ${maps}`;
    grid.replaceChildren(
      html("span", {}, "head"),
      ...heads.map((head) => html("span", {}, head < 0 ? "mean" : `${head}`)),
    );
    weights.forEach((_, layer) =>
      grid.append(
        html("span", {}, `layer ${layer}`),
        ...heads.map((head) =>
          html(
            "button",
            {
              type: "button",
              role: "radio",
              class: isOff(layer, head) ? "off" : "",
              "data-layer": layer,
              "data-head": head,
              "aria-label": `layer ${layer}, ${headName(head)}`,
            },
            drawMap(weightsOf(layer, head), rows.length, columns.length, links()),
          ),
        ),
      ),
    );
  }

  function drawHead() {
    for (const button of grid.querySelectorAll("button"))
      check(
        button,
        +button.dataset.layer === state.layer && +button.dataset.head === state.head,
      );
    const off = isOff(state.layer, state.head)
      ? ", switched off: where it looked before"
      : "";
    const name = headName(state.head);
    caption.textContent = `${TITLES[state.kind]}, layer ${state.layer}, ${name}${off}`;
    drawWord();
  }

  function drawWord() {
    // the lines, the shades and the sentence in words
    const { rows, columns } = current();
    const weights = weightsOf(state.layer, state.head);
    const at = (row, column) => weights[row * columns.length + column];
    const chosen = state.seen ?? state.held;
    const touches = (row, column) =>
      !chosen || (chosen.side === "from" ? row : column) === chosen.index;
    const curve = (row, column, attributes) => {
      const [y, z] = [row, column].map((i) => ROW * (i + 0.5));
      return svg("path", { d: `M0 ${y}C45 ${y} 55 ${z} 100 ${z}`, ...attributes });
    };
    lines.replaceChildren(
      svg(
        "g",
        { class: "true" },
        ...links()
          .filter((link) => touches(...link))
          .map((link) => curve(...link)),
      ),
    );
    rows.forEach((_, row) =>
      columns.forEach((_, column) => {
        const weight = at(row, column);
        if (weight < (chosen ? 0.005 : 0.05) || !touches(row, column)) return;
        lines.append(
          curve(row, column, {
            "stroke-width": 1 + 4 * weight,
            opacity: chosen ? 0.2 + 0.8 * weight : 0.75 * weight,
          }),
        );
      }),
    );
    for (const [side, list] of Object.entries(sides)) {
      [...list.children].forEach((button, index) => {
        const weight =
          chosen && chosen.side !== side
            ? side === "to"
              ? at(chosen.index, index)
              : at(index, chosen.index)
            : 0;
        button.style.setProperty("--w", weight);
        button.lastChild.textContent = weight >= 0.005 ? weight.toFixed(2) : "";
        button.classList.toggle("on", chosen?.side === side && chosen.index === index);
        button.setAttribute(
          "aria-selected",
          state.held?.side === side && state.held.index === index,
        );
      });
    }
    tell(chosen, at);
  }

  function tell(chosen, at) {
    if (!chosen)
      return readout.replaceChildren(
        html(
          "span",
          {},
          "Point at a word to see where it looks; click or Enter holds it. Choose a " +
            "head by its map.",
        ),
      );
    const { rows, columns } = current();
    const asks = chosen.side === "from";
    const found = (asks ? columns : rows)
      .map((word, i) => [word, asks ? at(chosen.index, i) : at(i, chosen.index)])
      .filter(([, weight]) => weight >= 0.005)
      .sort((a, b) => b[1] - a[1]);
    const shown = found
      .slice(0, 5)
      .flatMap(([word, weight], i) => [
        i ? ", " : " ",
        html("bdi", {}, word),
        `\u00a0${weight.toFixed(2)}`,
      ]);
    const word = html("b", {}, html("bdi", {}, (asks ? rows : columns)[chosen.index]));
    readout.replaceChildren(
      word,
      asks ? " looks at:" : " is looked at by:",
      ...(found.length ? shown : [" no word"]),
      found.length > 5 ? "\u00a0…" : "",
    );
  }

  // ---------------------------------------- mouse, touch and keyboard
  for (const kind in data.kinds)
    kinds.append(html("button", { type: "button", role: "radio", value: kind }, kind));
  const choose = (button) => {
    if (button && button.value !== state.kind)
      (Object.assign(state, { kind: button.value, seen: null, held: null }),
        drawKind(),
        told(state));
    return button;
  };
  kinds.addEventListener("click", (event) => choose(event.target.closest("button")));
  onArrows(kinds, (buttons, i, x, y) => choose(within(buttons, i + x + y)));

  const pick = (button) => {
    if (button)
      (Object.assign(state, {
        layer: +button.dataset.layer,
        head: +button.dataset.head,
      }),
        drawHead(),
        told(state));
    return button;
  };
  grid.addEventListener("click", (event) => pick(event.target.closest("button")));
  grid.addEventListener("pointermove", (event) => {
    // the weight under the pointer
    const map = event.target.closest("svg"),
      button = map?.closest("button");
    if (!button) return;
    const { rows, columns } = current(),
      { left, top, width, height } = map.getBoundingClientRect();
    const row = within(
      [...rows.keys()],
      Math.floor((rows.length * (event.clientY - top)) / height),
    );
    const column = within(
      [...columns.keys()],
      Math.floor((columns.length * (event.clientX - left)) / width),
    );
    const weight = weightsOf(+button.dataset.layer, +button.dataset.head)[
      row * columns.length + column
    ];
    readout.replaceChildren(
      html("b", {}, html("bdi", {}, rows[row])),
      " looks at: ",
      html("bdi", {}, columns[column]),
      `\u00a0${weight.toFixed(3)}`,
    );
  });
  grid.addEventListener("pointerleave", () => drawWord());
  onArrows(grid, (buttons, i, x, y) => {
    const wide = current().weights[0].length + 1;
    const [column, row] = [
      Math.max(0, Math.min(wide - 1, (i % wide) + x)),
      Math.floor(i / wide) + y,
    ];
    return pick(buttons[row * wide + column] ?? buttons[i]);
  });

  goldBox.addEventListener("change", () => {
    state.gold = goldBox.checked;
    drawMaps();
    drawHead();
  });

  for (const [side, list] of Object.entries(sides)) {
    const word = (event) => event.target.closest("button");
    const see = (button) => {
      state.seen = button && { side, index: +button.dataset.index };
      drawWord();
    };
    let touch = false;
    list.addEventListener("pointerdown", (event) => {
      touch = event.pointerType === "touch";
    });
    list.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "touch" && word(event)) see(word(event));
    });
    list.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") see(null);
    });
    list.addEventListener("focusin", (event) => {
      for (const button of list.children)
        button.tabIndex = button === word(event) ? 0 : -1;
      see(word(event));
    });
    list.addEventListener("focusout", () => see(null));
    list.addEventListener("click", (event) => {
      if (!word(event)) return;
      const index = +word(event).dataset.index;
      const again = state.held?.side === side && state.held.index === index;
      state.held = again ? null : { side, index };
      told(state);
      see(again && touch ? null : word(event));
    });
    onArrows(list, (buttons, i, x, y) =>
      Math.abs(x) === 1
        ? within([...sides[x < 0 ? "from" : "to"].children], i)
        : within(buttons, i + x + y),
    );
  }

  const section = html(
    "section",
    { role: "group", "aria-label": "attention" },
    html("div", { class: "bar" }, kinds, goldLabel),
    html(
      "div",
      { class: "panes" },
      html(
        "div",
        { class: "words" },
        html("div", { class: "row top" }, ...titles),
        html("div", { class: "row" }, sides.from, lines, sides.to),
      ),
      readout,
      html("div", { class: "maps" }, caption, html("div", { class: "scroll" }, grid)),
    ),
  );
  section.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && (state.held || state.seen))
      (Object.assign(state, { seen: null, held: null }), drawWord());
  });
  drawKind();
  host.attachShadow({ mode: "open" }).append(html("style", {}, CSS), section);
  return {
    state,
    update(newer) {
      // another translation: what was chosen stays chosen where it can
      data = newer;
      state.seen = null;
      drawKind();
    },
    hold(side, index) {
      // a word, as if the reader had
      state.held = { side, index };
      drawWord();
    },
  };
}
