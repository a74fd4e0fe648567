// How much of a batch is padding: its size, and who shares it.

import { choice, panel, slider, sum, svg } from "../kit.js";

const SIZES = [1, 2, 4, 8, 16, 32, 64, 128];
const ORDERS = { drawn: "as they come", alike: "of similar length" };

/** Batches of `size` sentences, by their lengths: in this order, or sorted first. */
export function batches({ lengths, size, order }) {
  const queue = order === "alike" ? [...lengths].sort((a, b) => a - b) : lengths;
  const starts = queue.map((_, i) => i).filter((i) => i % size === 0);
  return starts.map((i) => queue.slice(i, i + size)); // of B lengths each
}

/** The ids of all batches, and the share of them that is padding. */
export function padding(asked) {
  const room = sum(batches(asked).map((one) => one.length * Math.max(...one)));
  return { room, share: 1 - sum(asked.lengths) / room };
}

export function draw({ add, tell }, state, { lengths }) {
  const [text, pads] = ["text", "pads"].map((kind) => svg("path", { class: kind }));
  const wide = Math.max(...lengths);
  const picture = svg("svg", { class: "batches", role: "img",
    viewBox: `0 0 ${wide} ${lengths.length}`, preserveAspectRatio: "none",
  }, pads, text);
  const size = slider({ label: "sentences in a batch", values: SIZES });
  const order = choice({ label: "in a batch are sentences", texts: ORDERS });
  const controls = panel({ size, order }, state);

  function show() {
    const asked = { lengths, ...controls.values };
    const all = batches(asked), { room, share } = padding(asked);
    const bar = (from, to, y) => (to > from ? `M${from} ${y}H${to}v1H${from}z` : "");
    const rows = all.flatMap((one) => one.map((n) => [n, Math.max(...one)]));
    text.setAttribute("d", rows.map(([n], y) => bar(0, n, y)).join(""));
    pads.setAttribute("d", rows.map(([n, most], y) => bar(n, most, y)).join(""));
    const says = `${lengths.length} sentences in batches of ${asked.size}: ` +
      `${room} ids, of which ${Math.round(100 * share)}% are padding.`;
    picture.setAttribute("aria-label", `text in blue, padding in gold. ${says}`);
    tell(says);
  }
  add(picture, controls);
  return show;
}
