// The models of the live page: from this browser's memory, the site, or a file.

const STORE = "nmt-live";

/** `answers` opens the files; `changed()` is called whenever something is to be drawn.
 * `models` are {name, title, source, target, examples, url, bytes}; they get `progress`
 * (0 … 1 while a file comes) and `failed`, a sentence. */
export function makeModels(models, answers, worker, changed) {
  const all = new Map(models.map((model) => [model.name, model]));
  let files = 0;

  /** Opens a model; without `ask`, only if it has been fetched before. */
  async function get(name, ask) {
    const model = all.get(name);
    model.asked ||= ask; // also while the browser's memory is searched
    if (answers.has(name) || model.progress || !model.url) return;
    model.progress = 0.001;
    const store = await globalThis.caches?.open(STORE).catch(() => null);
    const stored = await store?.match(model.url);
    if (!stored && !model.asked) return void (model.progress = 0);
    model.failed = "";
    changed(name, "progress");
    try {
      const file = await read(stored ?? await fetch(model.url), model);
      await answers.open(name, await file.arrayBuffer());
      // Without room to keep it, it works until the page is left.
      if (store && !stored) await keep(store, model.url, file).catch(() => {});
    } catch (error) {
      model.failed = `The model could not be fetched (${error.message}).`;
      await store?.delete(model.url).catch(() => {}); // damaged: it is fetched again
    }
    Object.assign(model, { progress: 0, asked: false });
    changed(name, "done");
  }

  async function read(answer, model) {
    if (!answer.ok) throw new Error(`the server says ${answer.status}`);
    const parts = [], reader = answer.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      model.progress = Math.min(1, model.progress + part.value.length / model.bytes);
      changed(model.name, "progress");
    }
    return new Blob(parts);
  }

  /** Keeps the model; and the page with all that it needs, for a worker to serve. */
  async function keep(store, url, file) {
    await store.put(url, new Response(file));
    if (!worker || !navigator.serviceWorker) return;
    await navigator.serviceWorker.register(worker, { scope: location.pathname });
    const parts = performance.getEntriesByType("resource").map(({ name }) => name);
    const own = parts.filter((part) =>
      part.startsWith(location.origin) && !part.endsWith(url));
    await Promise.allSettled([location.pathname, ...own].map((one) => store.add(one)));
  }

  /** Opens a file of the reader's own, and gives its model; throws if it cannot. */
  async function openFile(file) {
    const n = ++files > 1 ? ` ${files}` : "";
    const name = `your file${n}`; // not the file's own: all trainings write that one
    const { src_lang: source, tgt_lang: target } =
      await answers.open(name, await file.arrayBuffer());
    const title = `${source} → ${target} (${name})`;
    const model =
      { name, title, source, target, examples: [], bytes: file.size, url: "" };
    all.set(name, model);
    return model;
  }

  return { all, get, openFile };
}
