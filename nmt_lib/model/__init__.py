"""The Transformer of the paper: read attention, embeddings, layers, transformer."""
