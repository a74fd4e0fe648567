"""Configs: one YAML file describes a whole experiment, and every key is checked before
anything runs.

``load_config("tiny", **{"train.seed": 1})`` reads a file, which says what differs from
the defaults here, and overrides single keys by their dotted names.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import reprlib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML, YAMLError

from .errors import ConfigError, one_line

CONFIG_FOLDER = Path(__file__).parent / "configs"
LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
# Codes of countries that are taken for those of languages.
COUNTRIES = {"cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "jp": "ja", "ua": "uk"}
NAMED_KEYS = {"data.src_lang", "data.tgt_lang", "train.seed"}  # see ``load_config``
SPACY = {"en", "de", "fr"}  # languages whose words are split and joined by rules
SUBWORDS = {"unigram", "bpe"}  # of ``data.tokenizer``
Count = Annotated[int, Field(ge=1, le=10**9, strict=True)]
Layers = Annotated[int, Field(ge=1, le=1000, strict=True)]
Share = Annotated[float, Field(ge=0, lt=1, strict=True)]
Seed = Annotated[int, Field(ge=0, lt=2**32, strict=True)]


class Section(BaseModel):
    """A part of the config: unknown keys and wrong types are errors.

    It is immutable: ``load_config(config, **{"train.seed": 1})`` makes a changed copy.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class DataConfig(Section):
    """The corpus, and how its text becomes ids."""

    corpus: str = Field("tiny", min_length=1)
    """tiny, toy, multi30k, multi30k-tok, europarl, a folder, or a file of pairs"""
    src_lang: str = "en"
    """a code of ISO 639, such as en, pl or zh"""
    tgt_lang: str = "fr"
    """likewise"""
    tokenizer: Literal["whitespace", "spacy", "unigram", "bpe"] = "spacy"
    """spacy: for en, de and fr; the last two are SentencePiece models"""
    joint: bool = False
    """one vocabulary for both languages"""
    lowercase: bool = False
    """fold case before anything else"""
    vocab_size: int = Field(8000, ge=8, le=10**6)
    """SentencePiece: how many subwords"""
    character_coverage: float = Field(1.0, gt=0.9, le=1.0)
    """SentencePiece"""
    normalization: Literal["nmt_nfkc", "nfkc", "identity"] = "nmt_nfkc"
    """SentencePiece; identity: a Chinese comma stays one"""
    bpe_dropout: Share = 0.0
    """bpe: the probability of skipping a merge"""
    min_freq: Count = 1
    """words: the least number of occurrences"""
    src_specials: bool = True
    """<sos> before a source as well"""
    max_length: int = Field(256, ge=4, le=10**9)
    """tokens; longer pairs are left out"""
    limit: Count | None = None
    """use only so many training pairs"""
    seed: Seed = 0
    """splits a corpus that is published whole"""

    @model_validator(mode="after")
    def _check(self) -> DataConfig:
        for key in ("src_lang", "tgt_lang"):
            code = getattr(self, key)
            if not LANGUAGE.fullmatch(code) or code in COUNTRIES:
                hint = COUNTRIES.get(code, "such as en, pl or zh")
                raise ValueError(
                    f"data.{key}={_short(code)} is no language: give its code ({hint})"
                )
            if self.tokenizer == "spacy" and code not in SPACY:
                of_tiny = ", and another data.corpus" if self.corpus == "tiny" else ""
                raise ValueError(
                    f"data.{key}={code}, but data.tokenizer=spacy knows the words of "
                    f"en, de and fr only: choose subwords (data.tokenizer=bpe){of_tiny}"
                )
        if self.src_lang == self.tgt_lang:
            raise ValueError(
                f"data.src_lang and data.tgt_lang are both {self.src_lang!r}: choose "
                "two languages"
            )
        if self.joint and self.tokenizer == "spacy":
            raise ValueError(
                "data.joint=true needs subwords (bpe or unigram): spaCy's rules are "
                "those of one language"
            )
        if self.bpe_dropout and self.tokenizer != "bpe":
            raise ValueError(
                f"data.bpe_dropout leaves out merges, and {self.tokenizer!r} has none: "
                "use tokenizer=bpe"
            )
        return self


class ModelConfig(Section):
    """The architecture (paper, section 3)."""

    d_model: int = Field(512, ge=2, le=10**9)
    """width of vectors between layers, D"""
    n_heads: Count = 8
    """heads of each attention, H"""
    n_layers: Layers = 6
    """of the encoder, and of the decoder"""
    n_decoder_layers: Layers | None = None
    """null: as n_layers"""
    d_ff: Count = 2048
    """width inside feed-forward networks"""
    d_value: Count | None = None
    """of a head; null: D / H"""
    norm: Literal["post", "pre"] = "post"
    """where the layer norm is"""
    final_norm: bool | None = None
    """on stacks; null: with pre only"""
    bias: bool = True
    """in every linear layer"""
    norm_bias: bool = True
    """in every layer norm"""
    tying: Literal["none", "target", "three-way"] = "none"
    """which of source, target and output matrices are one"""
    scale_embeddings: bool = True
    """multiply embeddings by √D"""
    max_positions: int = Field(512, ge=2, le=10**5)
    """at the start; the table grows"""
    dropout: Share = 0.1
    """after each sub-layer"""
    embedding_dropout: Share | None = None
    """null: as dropout"""
    ffn_dropout: Share = 0.0
    """inside feed-forward networks"""
    attention_dropout: Share = 0.0
    """on weights; slower above 0"""
    init: Literal["xavier", "xavier-all", "torch"] = "xavier"
    """xavier-all: embeddings too; torch: its defaults"""

    @model_validator(mode="after")
    def _check(self) -> ModelConfig:
        if self.d_model % 2:
            raise ValueError(
                "model.d_model must be even (sines and cosines come in pairs), not "
                f"{self.d_model}"
            )
        if self.d_model % self.n_heads:
            raise ValueError(
                f"model.d_model={self.d_model} is not divisible by "
                f"model.n_heads={self.n_heads}"
            )
        widths = self.d_model + self.d_ff + self.n_heads * (self.d_value or 0)
        layers = self.n_layers + (self.n_decoder_layers or self.n_layers)
        weights = layers * self.d_model * widths  # the order of magnitude
        if weights > 10**9:
            raise ValueError(
                f"the model would have more than {weights:.0e} weights: lower "
                "model.n_layers, model.d_model, model.d_ff or model.d_value"
            )
        return self


class TrainConfig(Section):
    """Training (paper, section 5)."""

    seed: Seed = 0
    """draws weights, batches and dropout"""
    init_from: str | None = Field(None, min_length=1)
    """begin with the weights of a bundled model, a run or a file"""
    max_steps: Count = 1000
    """updates"""
    patience: int | None = Field(None, ge=1, le=10**9)
    """stop after so many validations without a lower loss; null: never"""
    batch_by: Literal["tokens", "sentences"] = "tokens"
    """tokens: sentences of similar length go together"""
    batch_tokens: Count = 4096
    """sentences × longest side"""
    batch_sentences: Count = 64
    """of any length together"""
    accumulate: int = Field(1, ge=1, le=10**4)
    """batches for one update"""
    optimizer: Literal["adam", "sgd"] = "adam"
    """adam or sgd"""
    lr: float = Field(1e-3, gt=0)
    """the peak; for noam, a factor in front"""
    schedule: Literal["constant", "noam", "inverse-sqrt", "cosine"] = "inverse-sqrt"
    """how the learning rate changes after the warm-up"""
    warmup: int = Field(400, ge=0, le=10**9)
    """updates"""
    betas: tuple[Share, Share] = Field((0.9, 0.98), strict=False)
    """of Adam"""
    eps: float = Field(1e-9, gt=0)
    """of Adam"""
    momentum: Share = 0.0
    """of SGD"""
    clip_norm: float | None = Field(None, gt=0)
    """of the gradient, at most"""
    label_smoothing: Share = 0.1
    """ε: what the target distribution spreads over the vocabulary"""
    precision: Literal["fp32", "bf16", "fp16", "auto"] = "fp32"
    """auto: on a GPU bf16 where it has that, else fp16 with a scaled loss"""
    validate_every: Count = 100
    """updates"""
    checkpoint_every: Count = 100
    """updates"""
    keep_checkpoints: Count = 3
    """older ones are deleted"""
    select: Literal["best", "last", "average"] = "best"
    """the final weights; average: of the checkpoints kept"""
    threads: int | None = Field(None, ge=1, le=1024)
    """of the CPU; null: PyTorch's choice"""


class DecodeConfig(Section):
    """Decoding: the search for a translation (paper, section 6.1)."""

    beam_size: int = Field(1, ge=1, le=1000)
    """1: greedy"""
    length_penalty: float = Field(0.6, ge=0, le=10)
    """α of Wu et al. (2016)"""
    max_extra_tokens: int = Field(50, ge=0, le=10**4)
    """beyond those of the source"""
    max_source_tokens: int = Field(1024, ge=2, le=10**5)
    """a longer source is cut"""
    batch_tokens: Count = 4096
    """rows × longest source"""


class Config(Section):
    """A whole experiment.

    ``run_dir`` is where it writes; empty: the folder ``name`` in ``runs_folder()``.
    """

    name: str = Field("custom", min_length=1)
    run_dir: str = ""
    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    decode: DecodeConfig = DecodeConfig()

    @model_validator(mode="after")
    def _check(self) -> Config:
        if self.model.tying == "three-way" and not self.data.joint:
            raise ValueError(
                "model.tying='three-way' shares one matrix, so it needs one vocabulary "
                "(data.joint=true)"
            )
        return self

    def to_yaml(self) -> str:
        """The config as YAML, with a comment on each key; ``load_config`` reads it."""
        lines = []
        for name, value in self:
            if not isinstance(value, Section):
                lines.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")
                continue
            lines.append(f"{name}:")
            for key, field in type(value).model_fields.items():
                # Every JSON value is YAML.
                text = json.dumps(getattr(value, key), ensure_ascii=False)
                lines.append(f"  {key}: {text}  # {field.description}")
        return "\n".join(lines) + "\n"


def config_names() -> list[str]:
    """The named configs, in alphabetical order."""
    return sorted(path.stem for path in CONFIG_FOLDER.glob("*.yaml"))


def load_config(name: str | os.PathLike[str] | Config, /, **overrides: Any) -> Config:
    """Reads a named config or a YAML file and applies overrides.

    Args:
        name: one of ``config_names()``, the path of a YAML file, or a ``Config``.
        overrides: dotted keys, ``**{"train.seed": 1}``; each value must have the type
            of its key. Languages or a seed other than the file's are added to the
            name, so that each direction and each repetition has a run of its own. With
            any other change, a run is another experiment, which the reader names.

    Raises:
        ConfigError: unknown name or key (with the nearest valid one), wrong type,
            values that do not fit together.
    """
    if isinstance(name, Config):
        config = name
        if not overrides:
            return config
    else:
        path = _find_file(Path(os.path.expanduser(name)))
        values = _yaml(path, f"config file {path}") or {}  # nothing but comments
        if not isinstance(values, dict):
            raise ConfigError(f"config file {path} must hold keys and values")
        config = validate_section(
            Config, {"name": path.stem} | values, f"config {path.stem}"
        )
    values = config.model_dump()
    for key, value in overrides.items():
        if key not in KEYS:
            raise ConfigError(f"unknown key {_short(key)}{did_you_mean(key, KEYS)}")
        section, _, field = key.rpartition(".")
        (values[section] if section else values)[field] = value
    result = validate_section(Config, values, f"config {config.name}")
    if "name" in overrides or not overrides.keys() & NAMED_KEYS:
        return result
    base, usual = config.name, _suffixes(config)
    for suffix in reversed(usual):
        base = base.removesuffix(suffix)
    old = config.name.removeprefix(base)
    if base in config_names():
        usual = _suffixes(load_config(base))
    new = [part for part in _suffixes(result) if part not in usual or part in old]
    return result.model_copy(update={"name": "".join([base, *new])})


def parse_overrides(text: str | list[str]) -> dict[str, Any]:
    """``"train.seed=1 data.tgt_lang=fr"`` as a dict; values are read as YAML.

    A value may contain spaces: it continues until the next ``key=``, or, where each
    override is a text of its own, until its end.

    Raises:
        ConfigError: a part without ``=``, a value that is not YAML.
    """
    overrides = {}
    if isinstance(text, str):
        text = re.split(r"\s+(?=[\w.]+=)", text.strip())
    for part in filter(None, text):
        key, equals, value = part.partition("=")
        if not equals:
            raise ConfigError(
                f"override {_short(key)} is not of the form key=value, such as "
                "train.max_steps=200"
            )
        read = _yaml(value, f"override {_short(key)}")
        is_plain = isinstance(read, str) and read and value.lstrip().startswith(read)
        overrides[key] = value.strip() if is_plain else read  # " #" may be in a path
    return overrides


def _suffixes(config: Config) -> list[str]:
    """What ``NAMED_KEYS`` add to a name."""
    data = config.data
    return [f"-{data.src_lang}-{data.tgt_lang}", f"-seed{config.train.seed}"]


def _find_file(path: Path) -> Path:
    if path.suffix in (".yaml", ".yml") and os.path.isfile(path):
        return path
    names = config_names()
    if str(path) in names:
        return CONFIG_FOLDER / f"{path}.yaml"
    raise ConfigError(
        f"unknown config {str(path)!r}{did_you_mean(path.stem, names)}: give one of "
        f"{', '.join(names)}, or the path of a .yaml file"
    )


def _yaml(source: str | Path, where: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(source)
    except (YAMLError, ValueError, LookupError, RecursionError) as error:
        raise ConfigError(f"{where} is not valid YAML: {one_line(error)}") from None


S = TypeVar("S", bound=Section)


def validate_section(section: type[S], values: dict[str, Any], where: str) -> S:
    """The section with these values; a ConfigError explains what is wrong with them.

    Unknown keys are named alone: a misspelt key explains the errors that it causes.
    """
    try:
        return section.model_validate(values)
    except ValidationError as error:
        unknown, problems = [], []
        for e in error.errors()[:20]:
            key = ".".join(map(str, e["loc"]))
            if e["type"] == "extra_forbidden":
                choices = KEYS if section is Config else list(section.model_fields)
                hint = did_you_mean(key, choices)
                if key in choices:  # in YAML, where it must be two
                    hint = " in one line: put it below its section"
                unknown.append(f"unknown key {_short(key)}{hint}")
            elif e["type"] == "value_error":
                problems.append(e["msg"].removeprefix("Value error, "))
            else:
                problems.append(f"{key}: {e['msg']}, got {_short(e['input'])}")
        raise ConfigError(f"{where}: {'; '.join(unknown or problems)}") from None


def update_decode(decode: DecodeConfig, changes: dict[str, Any]) -> DecodeConfig:
    """The search settings with these changes, validated."""
    return validate_section(
        DecodeConfig, decode.model_dump() | changes, "cannot decode"
    )


def _short(value: Any) -> str:
    """A value as messages show it: long ones are cut in the middle."""
    short = reprlib.Repr()
    short.maxlevel, short.maxstring = 2, 80
    return short.repr(value)


def did_you_mean(word: str, choices: list[str]) -> str:
    """A hint with the most similar choices; a bare key may be of any section."""
    inside = [choice for choice in choices if choice.startswith(f"{word}.")]
    if inside:
        return f": it is a section, so name one of its keys, such as {inside[0]!r}"
    if word.replace("_", ".", 1) in choices:
        word = word.replace("_", ".", 1)
    names = {c: c if "." in word else c.rpartition(".")[2] for c in choices}
    matches = difflib.get_close_matches(word, names.values(), 1)
    suggestions = [repr(choice) for choice, name in names.items() if name in matches]
    return f" (did you mean {' or '.join(suggestions)}?)" if suggestions else ""


# All keys, those of a section with its name: ``train.seed``.
KEYS = ["name", "run_dir"] + [
    f"{name}.{key}"
    for name, section in Config()
    if isinstance(section, Section)
    for key in type(section).model_fields
]
