"""Configs: one YAML file describes a whole experiment, and every key is checked before anything runs.

Here is what each key means and may be; ``configs/reading.py`` reads the files.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from .errors import ConfigError

Beta = Annotated[float, Field(ge=0.0, lt=1.0, strict=True)]
Text = Annotated[
    str, Field(max_length=4000, pattern=r"^[^\x00]*$")
]  # no system has NUL in the name of a file


class Section(BaseModel):
    """A part of the config: unknown keys and wrong types are errors, values stay as they were given."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class DataConfig(Section):
    """What is translated, and how text becomes ids."""

    corpus: Text = Field(
        "tiny", min_length=1
    )  # tiny | toy | multi30k | multi30k-tok | europarl, or a folder
    src_lang: Literal["en", "de", "fr"] = "en"
    tgt_lang: Literal["en", "de", "fr"] = "fr"
    tokenizer: Literal["whitespace", "spacy", "unigram", "bpe"] = (
        "spacy"  # the last two are SentencePiece models
    )
    joint: bool = False  # one tokenizer and one vocabulary for both languages
    lowercase: bool = False
    vocab_size: int = Field(8000, ge=8, le=1_000_000)  # SentencePiece: how many pieces
    character_coverage: float = Field(
        1.0, gt=0.9, le=1.0
    )  # SentencePiece: share of characters that get a piece
    bpe_dropout: float = Field(
        0.0, ge=0.0, lt=1.0
    )  # bpe: how likely a merge is left out, drawn anew each epoch
    min_freq: int = Field(
        1, ge=1, le=10**9
    )  # words: how often one must occur to enter the vocabulary
    src_specials: bool = True  # source as <sos> … <eos>; False: the source ends with <eos> and has no <sos>
    max_length: int = Field(
        256, ge=4, le=100_000
    )  # in tokens, specials included; longer training pairs are left out
    limit: int | None = Field(
        None, ge=1, le=10**12
    )  # use only so many pairs of the corpus
    seed: int = Field(
        0, ge=0, lt=2**32
    )  # splits a corpus that is published as one piece

    @model_validator(mode="after")
    def _check(self) -> DataConfig:
        if self.src_lang == self.tgt_lang:
            raise ValueError(
                f"data.src_lang and data.tgt_lang are both {self.src_lang!r}: choose two languages"
            )
        if self.joint and self.tokenizer == "spacy":
            raise ValueError(
                "data.joint=true needs pieces (bpe or unigram): spaCy's rules are those of one language"
            )
        if self.bpe_dropout and self.tokenizer != "bpe":
            raise ValueError(
                f"data.bpe_dropout leaves out merges, and {self.tokenizer!r} has none: use tokenizer=bpe"
            )
        return self


class ModelConfig(Section):
    """The architecture (paper, section 3). Dropout places that are None take the value of ``dropout``."""

    d_model: int = Field(512, ge=2, le=65_536)
    n_heads: int = Field(8, ge=1, le=1024)
    n_layers: int = Field(
        6, ge=1, le=1000
    )  # of the encoder, and of the decoder unless n_decoder_layers is given
    n_decoder_layers: int | None = Field(None, ge=1, le=1000)
    d_ff: int = Field(2048, ge=1, le=262_144)
    d_value: int | None = Field(
        None, ge=1, le=65_536
    )  # width of one head's values; None: d_model / n_heads
    norm: Literal["post", "pre"] = (
        "post"  # layer norm after the residual connection (the paper) or before the sub-layer
    )
    final_norm: bool | None = (
        None  # one more layer norm on each stack; None: yes for pre, no for post
    )
    bias: bool = True  # in every linear layer
    norm_bias: bool = True  # in every layer norm
    tying: Literal["none", "target", "three-way"] = (
        "none"  # which of source, target and output matrices are one
    )
    scale_embeddings: bool = (
        True  # multiply embeddings by √d_model (paper, section 3.4)
    )
    max_positions: int = Field(
        512, ge=2, le=100_000
    )  # rows of the table of positions at the start; it grows
    dropout: float = Field(
        0.1, ge=0.0, lt=1.0
    )  # after each sub-layer (paper, section 5.4)
    embedding_dropout: float | None = Field(None, ge=0.0, lt=1.0)
    ffn_dropout: float = Field(
        0.0, ge=0.0, lt=1.0
    )  # between the two layers of the feed-forward network
    attention_dropout: float = Field(
        0.0, ge=0.0, lt=1.0
    )  # on the attention weights; above 0 it leaves the fast path
    init: Literal["xavier", "xavier-all", "torch"] = (
        "xavier"  # xavier-all: embeddings too; torch: its defaults
    )

    @model_validator(mode="after")
    def _check(self) -> ModelConfig:
        if self.d_model % 2:
            raise ValueError(
                f"model.d_model must be even (sines and cosines come in pairs), not {self.d_model}"
            )
        if self.d_model % self.n_heads:
            raise ValueError(
                f"model.d_model={self.d_model} is not divisible by model.n_heads={self.n_heads}"
            )
        return self

    def check_memory(self, n_tokens: int, copies: int = 1) -> None:
        """Raises ConfigError where a model needs more memory than this machine has, before anything is allocated.

        ``n_tokens`` are the rows of all embedding and output matrices; to train takes 4 ``copies`` of the weights:
        gradients and Adam's two means are as large.
        """
        D, values = (
            self.d_model,
            self.n_heads * (self.d_value or self.d_model // self.n_heads),
        )
        encoder, decoder = self.n_layers, self.n_decoder_layers or self.n_layers
        weights = (encoder + 2 * decoder) * 2 * D * (D + values) + (
            encoder + decoder
        ) * 2 * D * self.d_ff
        needed = (
            4 * copies * (weights + n_tokens * D) + 32 * self.max_positions * D
        )  # positions are made in float64
        there = (
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            if hasattr(os, "sysconf")
            else 2**40
        )
        if needed > there:
            keys = (
                "d_model",
                "d_ff",
                "d_value",
                "n_layers",
                "n_decoder_layers",
                "max_positions",
            )
            given = ", ".join(
                f"model.{key}={getattr(self, key)}"
                for key in keys
                if getattr(self, key)
            )
            raise ConfigError(
                f"{given} with {n_tokens} tokens would need about {needed / 1e9:,.0f} GB of memory, and "
                f"this machine has {there / 1e9:,.0f} GB: choose smaller ones"
            )


class TrainConfig(Section):
    """How the weights are found (paper, section 5)."""

    seed: int = Field(0, ge=0, lt=2**32)
    max_steps: int = Field(1000, ge=1, le=10**9)  # optimizer updates
    batch_by: Literal["tokens", "sentences"] = "tokens"
    batch_tokens: int = Field(
        4096, ge=1, le=10_000_000
    )  # sentences × longest side, padding included
    batch_sentences: int = Field(64, ge=1, le=1_000_000)
    accumulate: int = Field(1, ge=1, le=1000)  # batches for one update
    optimizer: Literal["adam", "sgd"] = "adam"
    lr: float = Field(
        1e-3, gt=0, le=1e6
    )  # the peak (for noam: the factor in front of the paper's formula)
    schedule: Literal["constant", "noam", "inverse-sqrt", "cosine"] = "inverse-sqrt"
    warmup: int = Field(400, ge=0, le=10**9)  # updates
    betas: tuple[Beta, Beta] = Field(
        (0.9, 0.98), strict=False
    )  # a YAML list is welcome
    eps: float = Field(1e-9, gt=0, le=1.0)
    momentum: float = Field(0.0, ge=0.0, lt=1.0)  # SGD only
    clip_norm: float | None = Field(None, gt=0, le=1e9)
    label_smoothing: float = Field(0.1, ge=0.0, lt=1.0)
    precision: Literal["fp32", "bf16", "auto"] = (
        "fp32"  # auto: bf16 where the device computes with it, else fp32
    )
    validate_every: int = Field(100, ge=1, le=10**9)  # updates
    checkpoint_every: int = Field(100, ge=1, le=10**9)  # updates
    keep_checkpoints: int = Field(3, ge=1, le=10_000)
    select: Literal["best", "last", "average"] = (
        "best"  # the weights that the run hands out
    )
    threads: int | None = Field(
        None, ge=1, le=1024
    )  # CPU threads; None: torch's own choice


class DecodeConfig(Section):
    """How a translation is searched for (paper, section 6.1)."""

    beam_size: int = Field(1, ge=1, le=1000)  # 1: greedy
    length_penalty: float = Field(
        0.6, ge=0.0, le=10.0
    )  # α of Wu et al. (2016); 0: none
    max_extra_tokens: int = Field(
        50, ge=0, le=10_000
    )  # a translation may be this much longer than its source
    max_source_tokens: int = Field(
        1024, ge=2, le=100_000
    )  # a longer source is cut here, with a warning
    batch_tokens: int = Field(4096, ge=1, le=10_000_000)


class Config(Section):
    """A whole experiment. ``run_dir`` is where it writes; empty: see ``run_path``."""

    name: Text = Field("custom", min_length=1)
    run_dir: Text = ""
    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    decode: DecodeConfig = DecodeConfig()

    @model_validator(mode="after")
    def _check(self) -> Config:
        if self.model.tying == "three-way" and not self.data.joint:
            raise ValueError(
                "model.tying='three-way' shares one matrix, so it needs data.joint=true (one vocabulary)"
            )
        return self

    @property
    def run_path(self) -> Path:
        """``run_dir``; where it is empty, ``runs/<name>`` (``$NMT_RUNS/<name>`` where that is set)."""
        return (
            Path(self.run_dir)
            if self.run_dir
            else Path(os.environ.get("NMT_RUNS", "runs")) / self.name
        )

    def to_yaml(self) -> str:
        """All keys, those at their defaults too; ``load_config`` reads the same config back from it."""
        from .configs.reading import Dumper

        return yaml.dump(self.model_dump(mode="json"), Dumper=Dumper, sort_keys=False)
