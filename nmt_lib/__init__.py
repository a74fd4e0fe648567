"""Neural machine translation with the original Transformer, small enough to read in an afternoon.

The way of a sentence: text → ``Tokenizer.encode`` → batches → masks → ``Transformer`` → logits → loss, and back
through ``Translator``. Names are loaded when first used, so that importing this costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {  # public name → the file that explains it
    "config": ["Config", "config_names", "load_config", "parse_overrides"],
    "corpora": ["Corpus", "Pair", "load_corpus"],
    "tokenizers": ["SentencePieceTokenizer", "Tokenizer", "WordTokenizer", "build_tokenizers"],
    "vocab": ["EOS", "PAD", "SOS", "UNK", "Vocab", "build_vocab_from_iterator"],
    "batching": ["Batch", "make_batch", "pad_batch", "padding_share", "sentence_batches", "token_batches"],
    "embeddings": ["Embedding", "PositionalEncoding", "sinusoids"],
    "masks": ["causal_mask", "padding_mask", "target_mask"],
    "attention": ["MultiHeadAttention", "fused_attention", "scaled_dot_product_attention"],
    "encoder": ["Encoder", "EncoderLayer", "FeedForward", "Residual"],
    "decoder": ["Decoder", "DecoderLayer", "LayerCache"],
    "transformer": ["Attention", "Output", "Transformer", "build_model", "count_parameters"],
    "losses": ["Objective", "chunked_cross_entropy", "cross_entropy"],
    "schedules": ["build_optimizer", "learning_rate"],
    "training": ["Trainer", "encode_pairs", "validation_loss"],
    "runs": ["Run", "load_or_train", "train"],
    "decoding": ["Candidate", "Hypothesis", "beam_search", "greedy_search", "length_penalty"],
    "translation": ["Translation"],
    "translator": ["Translator"],
    "export": ["CTranslate2Translator", "export_ctranslate2"],
    "contrasts": ["Contrast", "make_contrasts"],
    "evaluation": [
        "Evaluation",
        "alignment_error_rate",
        "contrastive_accuracy",
        "evaluate",
        "perplexity",
        "sentence_log_probs",
    ],
    "plotting": ["draw_grid", "new_figure", "plot_attention", "plot_beam", "plot_history"],
    "diagrams": ["draw_boxes", "draw_words"],
    "viewer": ["view_attention"],
    "notebook": ["show_source"],
    "errors": [
        "CheckpointError",
        "ConfigError",
        "CorpusError",
        "MissingPackageError",
        "NMTError",
        "ShapeError",
        "TrainingError",
    ],
}
_FILE = {name: file for file, names in _HOME.items() for name in names}
__all__ = sorted([*_FILE, "__version__"])
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _FILE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_FILE[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
