"""The paper's Transformer; read attention, embeddings, layers, transformer in turn."""
