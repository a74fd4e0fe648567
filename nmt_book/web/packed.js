// What nmt_book.web.packed has made of a text: compressed bytes, in letters.

export const bytesOf = (letters) =>
  Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));

/** A response with the text: its methods are `text` and `json`. */
export const unpacked = (letters) => new Response(new Blob([bytesOf(letters)]).stream()
  .pipeThrough(new DecompressionStream("deflate")));
