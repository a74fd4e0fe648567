"""The tiny corpus: a grammar of picture captions, and contrasts made from it."""
