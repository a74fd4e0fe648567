// Begins a page in a cell's output: its script is packed, and its model is in the
// output or in a file beside the notebook.

import { bytesOf, unpacked } from "./packed.js";

/** Where a file beside a notebook may be fetched. `server` is the address of a Jupyter
 * server, which knows `notebooks` by their paths; without one, it is beside `page`. */
export function addresses(file, { server, notebooks, page }) {
  if (!server) return /^https?:/.test(page) ? [new URL(file, page).href] : [];
  const folders = notebooks.map((path) => path.slice(0, path.lastIndexOf("/") + 1));
  return [...new Set(folders)].map((folder) =>
    `${server}files/${(folder + file).split("/").map(encodeURIComponent).join("/")}`);
}

/** The same of the page that shows `host`: in a JupyterLab, the notebook's tab says its
 * path, and so does the address if the notebook is the only one. */
function surroundings(host) {
  const settings = document.getElementById("jupyter-config-data")?.textContent;
  const panel = host.closest(".jp-NotebookPanel")?.id ?? "";
  const tab = document.querySelector(`.lm-TabBar-tab[data-id="${CSS.escape(panel)}"]`);
  const says = /^Path: (?:\w+:)?(.+)$/m.exec(tab?.title)?.[1];
  const opened = /\/(?:tree|notebooks)\/(.+)$/.exec(location.pathname)?.[1];
  const notebooks = [says, opened && decodeURIComponent(opened)].filter(Boolean);
  const server = settings && JSON.parse(settings).baseUrl;
  return { server, notebooks, page: document.baseURI };
}

async function modelOf(host, { file, bytes }) {
  const inside = host.querySelector(".model");
  if (inside) return bytesOf(inside.textContent).buffer;
  for (const address of addresses(file, surroundings(host))) {
    const answer = await fetch(address).catch(() => null);
    const found = answer?.ok ? await answer.arrayBuffer() : null;
    if (found?.byteLength === bytes) return found;
  }
  return null;
}

/** Draws the page, or says in a sentence what to do. */
export async function begin(host, data, packed) {
  const model = await modelOf(host, data);
  const script = model && await unpacked(packed).text();
  if (script) return new Function("host", "data", "model", script)(host, data, model);
  const note = document.createElement("p");
  note.textContent = "The model is not stored in this page. Run the cell to save it " +
    `to ${data.file}, beside the notebook; the box then comes alive.`;
  host.append(note);
}
