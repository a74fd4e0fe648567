"""Small models, translators and corpora that several tests share."""

import itertools
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load as tensors_of
from safetensors.torch import save as safetensors_bytes
from torch import nn

import nmt_lib as nmt
from nmt_lib.config import Config, DataConfig, DecodeConfig, ModelConfig
from nmt_lib.data.tiny.corpus import generate
from nmt_lib.data.tokenizers import WordTokenizer
from nmt_lib.training.model_file import file_digest

SMALL: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 24,
    "dropout": 0.0,
}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_dropout": 0.2},
    {"norm": "pre", "final_norm": False, "n_decoder_layers": 3},
    {"final_norm": True, "bias": False, "norm_bias": False, "n_layers": 1},
    {"d_value": 3, "tying": "target", "scale_embeddings": False},
]
GERMAN = "ich du wir mochte sehe ein der bier cola haus hund"
ENGLISH = "i you we want see a the beer coke house dog ."


def small_config(**options: Any) -> ModelConfig:
    return ModelConfig(**(SMALL | options))


def small_model(
    seed: int = 0,
    src_size: int = 11,
    tgt_size: int = 13,
    sharpen: float = 1.0,
    **options: Any,
) -> nmt.Transformer:
    """A model in evaluation mode, every weight drawn at random.

    ``sharpen`` spreads its logits.
    """
    torch.manual_seed(seed)
    model = nmt.Transformer(small_config(**options), src_size, tgt_size).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    model.output.weight.data *= sharpen
    return model


def random_rows(lengths: list[int], size: int, seed: int = 0) -> list[list[int]]:
    """Sentences of these lengths from ``<sos>`` to ``<eos>``, ids below ``size``."""
    generator = torch.Generator().manual_seed(seed)
    words = [torch.randint(4, size, (n - 2,), generator=generator) for n in lengths]
    return [[nmt.SOS, *ids.tolist(), nmt.EOS] for ids in words]


SRC = nmt.pad_batch(random_rows([6, 4, 3], 11))  # (3, 6)
TGT = nmt.pad_batch(random_rows([5, 7, 3], 13, seed=1))  # (3, 7)


def small_translator(
    seed: int = 0,
    sharpen: float = 3.0,
    src_specials: bool = True,
    decode: dict[str, Any] | None = None,
    **model: Any,
) -> nmt.Translator:
    """A translator with a random model and a few words in each language."""
    data = DataConfig(
        corpus="toy",
        src_lang="de",
        tgt_lang="en",
        tokenizer="whitespace",
        src_specials=src_specials,
    )
    config = Config(
        name="small",
        data=data,
        model=small_config(**model),
        decode=DecodeConfig(**({"max_extra_tokens": 6} | (decode or {}))),
    )
    tokenizers = [
        WordTokenizer.train("whitespace", lang, [words], 1, False)
        for lang, words in (("de", GERMAN), ("en", ENGLISH))
    ]
    tokenizers[0].sos = src_specials
    network = small_model(
        seed, len(tokenizers[0]), len(tokenizers[1]), sharpen, **model
    )
    return nmt.Translator(network, tokenizers[0], tokenizers[1], config)


def sealed(tensors: dict[str, torch.Tensor], metadata: dict[str, str]) -> bytes:
    """A model file of these tensors and metadata, with the digest that fits them."""
    metadata = {key: text for key, text in metadata.items() if key != "digest"}
    digest = file_digest(tensors, metadata)
    return safetensors_bytes(tensors, metadata | {"digest": digest})


def rewritten(path: Path, **changes: str) -> bytes:
    """A model file with other metadata and the digest that fits them."""
    with safe_open(path, "pt") as file:
        return sealed(tensors_of(path.read_bytes()), file.metadata() | changes)


@contextmanager
def little_memory(most: int) -> Iterator[None]:
    """Python allocates no more than this many bytes here, at any moment."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


tiny_corpus = cache(generate)  # with seed=…, by the grammar


def rows(table: str) -> list[list[str]]:
    """The rows of a table in a text, with " | " between their cells."""
    lines = (line for line in table.splitlines() if line.strip())
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


def made_translation(
    src: Sequence[str], tgt: Sequence[str], n_layers: int = 2, n_heads: int = 4
) -> nmt.Translation:
    """A translation of these words into those, without a model.

    Its attention is drawn at random, sharp, and different in every layer and head.
    """
    generator = torch.Generator().manual_seed(0)
    src_labels, tgt_labels = ("<sos>", *src, "<eos>"), (*tgt, "<eos>")
    S, T = len(src_labels), len(tgt_labels)

    def draw(rows: int, columns: int, mask: torch.Tensor) -> list[torch.Tensor]:
        shape = n_layers, 1, n_heads, rows, columns
        scores = 3 * torch.randn(shape, generator=generator)
        return list(scores.masked_fill(~mask, -torch.inf).softmax(-1))

    all_visible = torch.tensor(True)
    attention = nmt.Attention(
        draw(S, S, all_visible), draw(T, T, nmt.causal_mask(T)), draw(T, S, all_visible)
    )
    texts = " ".join(src), " ".join(tgt)
    return nmt.Translation(
        *texts, tuple(tgt), 0.0, (), src_labels, tgt_labels, lambda: attention
    )


def write_corpus(folder: Path) -> Path:
    """Two dozen short sentences in files, with lengths from 3 to 7 words."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = (
        [("ich", "i"), ("wir", "we")],
        [("mochte", "want"), ("sehe", "see")],
        [("ein bier", "a beer"), ("der hund", "the dog")],
        [("", "."), ("und ein haus", "and a house ."), ("dort", "there .")],
    )
    for side, lang in enumerate(("de", "en")):
        parts = (
            [word[side] for word in words] for words in itertools.product(*columns)
        )
        lines = [" ".join(words).strip() + "\n" for words in parts]
        for split, chosen in (("train", lines[:18]), ("valid", lines[18:])):
            (folder / f"{split}.{lang}").write_text("".join(chosen), encoding="utf-8")
        (folder / f"test.{lang}").write_text("".join(lines[18:]), encoding="utf-8")
    return folder


def small_run(
    folder: Path, options: str, run: str = "run", config: str = "toy"
) -> nmt.Config:
    """The config of a run in a folder, on the corpus that ``write_corpus`` makes there.

    The options are those of the CLI.
    """
    if not (corpus := folder / "corpus").exists():
        write_corpus(corpus)
    text = f"data.corpus={corpus} run_dir={folder / run} {options}"
    return nmt.load_config(config, **nmt.parse_overrides(text))
