// The training page in a cell's output: its script is packed: a notebook stores it.

/** Draws in `host`; `packed` are the sentences, which train_worker.js unpacks. */
export async function begin(host, { script, packed }) {
  const zipped = Uint8Array.from(atob(script), (letter) => letter.charCodeAt(0));
  const inflate = new DecompressionStream("deflate");
  const text = await new Response(new Blob([zipped]).stream().pipeThrough(inflate))
    .text();
  new Function("host", "PACKED", text)(host, packed);
}
