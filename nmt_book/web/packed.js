// What nmt_book.web.packed has made of a text: compressed bytes, in letters.

/** A response with the text: its methods are `text` and `json`. */
export function unpacked(letters) {
  const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  const inflate = new DecompressionStream("deflate");
  return new Response(new Blob([bytes]).stream().pipeThrough(inflate));
}
