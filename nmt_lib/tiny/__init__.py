"""The tiny corpus: a lexicon, a grammar that makes three languages from one meaning, and contrasts for a test."""
