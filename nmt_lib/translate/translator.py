"""The translator: a trained model, its tokenizers and its config; text in, translation
out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, overload

import torch

from ..config import Config, DecodeConfig, update_decode
from ..data.batches import fill_batches, pad_batch
from ..data.tokenizers import Tokenizer
from ..data.tokens import EOS, SOS, UNK
from ..errors import CheckpointError, ShapeError, check_kind, warn
from ..model.transformer import Attention, Transformer
from ..training import model_file
from ..training.loss import evaluation_mode
from ..training.run_folder import find_model, pretrained
from .search import Hypothesis, beam_search, greedy_search


@dataclass(frozen=True)
class Translation:
    """The translation of one text.

    ``tokens`` are the target tokens without special ones; ``score`` is the
    log-probability divided by the length penalty (nearer to 0 is better). ``n_best``
    holds the texts of all hypotheses with their scores, best first. ``src_labels`` and
    ``tgt_labels`` name the columns and rows of the attention.
    """

    source: str
    text: str
    tokens: tuple[str, ...]
    score: float
    n_best: tuple[tuple[str, float], ...] = ()
    src_labels: tuple[str, ...] = ()  # S names, special tokens included
    tgt_labels: tuple[str, ...] = ()  # T names: what each row *produces*, <eos> last
    _attend: Callable[[], Attention] = field(
        default=Attention, repr=False, compare=False
    )

    @cached_property
    def attention(self) -> Attention:
        """The attention weights of this translation, computed when first used.

        ``.encoder``, ``.decoder``, ``.cross``: ``[n_layers]`` of ``(1, H, S, S)``,
        ``(1, H, T, T)``, ``(1, H, T, S)``. The row of a token is the step that produced
        it.
        """
        return self._attend()

    def __str__(self) -> str:
        return self.text

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy or a pickle: the attention, not the model behind it."""
        return {**vars(self), "attention": self.attention, "_attend": Attention}


class Translator:
    """A trained model that translates texts.

    Args:
        model: the Transformer; it is put into evaluation mode, and for each translation
            again.
        src_tokenizer: for the texts.
        tgt_tokenizer: for the translations.
        config: how the model was made, and how to search (``config.decode``).

    Raises:
        ShapeError: tokenizers of other sizes than the model's.
    """

    def __init__(
        self,
        model: Transformer,
        src_tokenizer: Tokenizer,
        tgt_tokenizer: Tokenizer,
        config: Config,
    ) -> None:
        self.model = model.eval()
        self.src_tokenizer, self.tgt_tokenizer = src_tokenizer, tgt_tokenizer
        self.config = config
        sizes = len(src_tokenizer), len(tgt_tokenizer)
        sides = model.src_embedding, model.tgt_embedding
        if sizes != (V := tuple(len(next(side.parameters())) for side in sides)):
            raise ShapeError(
                f"the tokenizers have {sizes} tokens, the model {V}: are they in this "
                "order, and of this model?"
            )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        device: str | None = None,
        decode: DecodeConfig | dict[str, Any] | None = None,
    ) -> Translator:
        """Loads a translator that training or ``save`` wrote, or a bundled model.

        Args:
            path: a model file, the folder of a run, its name in ``runs_folder()``, or
                the name of a bundled model (``Translator.pretrained()`` lists them).
            device: default: the GPU where there is one.
            decode: search settings to use instead of the saved ones; a dict, such as
                ``{"beam_size": 1}``, changes only the settings that it names.

        Raises:
            CheckpointError: the file is missing or damaged.
            ConfigError: search settings or a device that cannot be used.
        """
        saved = model_file.load(find_model(path))
        changes = decode if isinstance(decode, dict) else dict(decode or {})
        settings = update_decode(saved.config.decode, changes)
        config = saved.config.model_copy(update={"decode": settings})
        return cls(saved.build_model(device), *saved.tokenizers, config)

    @staticmethod
    def pretrained() -> list[str]:
        """The names of the bundled models."""
        return pretrained()

    def save(self, path: str | os.PathLike[str], half: bool = False) -> None:
        """Writes a single file with everything that ``load`` needs.

        Args:
            path: the file, if it ends in ``.safetensors``; otherwise its folder.
            half: weights in fp16, half the size; ``load`` converts them back to fp32.

        Raises:
            CheckpointError: the file cannot be written, or is that of a run; or the
                weights are not those of a Transformer of this config.
        """
        file = Path(os.path.expanduser(path))
        if file.suffix != ".safetensors":
            file = file / "model.safetensors"
        if file.is_file() and model_file.load(file).state:
            raise CheckpointError(f"{file} is of a training run: save to another file")
        content = self.content()
        content.build_model("cpu")  # as ``load`` will
        if half:
            halves = {name: value.half() for name, value in content.tensors.items()}
            content = content._replace(tensors=halves)
        model_file.save(file, content)

    def content(self) -> model_file.ModelFile:
        """The content of its model file; no path in it holds the user's name."""
        config, tokenizers = self.config, (self.src_tokenizer, self.tgt_tokenizer)
        tensors = model_file.pack(self.model)
        return model_file.ModelFile(_without_paths(config), tokenizers, tensors, {})

    @overload
    def translate(
        self,
        texts: str,
        beam_size: int | None = ...,
        length_penalty: float | None = ...,
        batch_tokens: int | None = ...,
        use_cache: bool = ...,
    ) -> Translation: ...

    @overload
    def translate(
        self,
        texts: list[str],
        beam_size: int | None = ...,
        length_penalty: float | None = ...,
        batch_tokens: int | None = ...,
        use_cache: bool = ...,
    ) -> list[Translation]: ...

    def translate(
        self,
        texts: str | list[str],
        beam_size: int | None = None,
        length_penalty: float | None = None,
        batch_tokens: int | None = None,
        use_cache: bool = True,
    ) -> Translation | list[Translation]:
        """Translations of one text or several, in batches of similar length.

        An option that is None comes from ``config.decode``.

        Args:
            texts: one text or several. An empty text gives an empty translation. A text
                over ``decode.max_source_tokens`` is cut there, with a warning.
                ``<eos>`` in a text is treated as ordinary text.
            beam_size: 1 is greedy; K > 1 also gives ``n_best``.
            length_penalty: α; 0 for none.
            batch_tokens: the most rows × longest source to decode at once.
            use_cache: False computes each prefix from its start again (slower, same
                result).

        Returns:
            A ``Translation``, or a list of them in the order of the texts.

        Raises:
            TypeError: something that is not text.
            ConfigError: a beam, penalty or budget that makes no sense.
        """
        if isinstance(texts, str | bytes | dict | set) or not isinstance(
            texts, Iterable
        ):
            return self.translate(
                [texts], beam_size, length_penalty, batch_tokens, use_cache
            )[0]
        for i, text in enumerate(texts := list(texts)):
            if not isinstance(text, str):
                raise TypeError(f"text number {i} must be a str, not {text!r}")
            # Half of a character, as a cut leaves it, becomes U+FFFD.
            units = text.encode("utf-16", "surrogatepass")
            texts[i] = units.decode("utf-16", "replace")
        options = {
            "beam_size": beam_size,
            "length_penalty": length_penalty,
            "batch_tokens": batch_tokens,
        }
        changes = {key: value for key, value in options.items() if value is not None}
        settings = update_decode(self.config.decode, changes)
        sources = [self.encode(text) for text in texts]
        results = [Translation(text, "", (), 0.0, (("", 0.0),)) for text in texts]
        lengths = list(map(len, sources))
        order = sorted((i for i, n in enumerate(lengths) if n), key=lengths.__getitem__)
        budget = settings.batch_tokens // settings.beam_size
        for rows in fill_batches(order, lengths, budget):
            with evaluation_mode(self.model):
                beams = self._search([sources[i] for i in rows], settings, use_cache)
            for i, hypotheses in zip(rows, beams, strict=True):
                results[i] = self._translation(texts[i], sources[i], hypotheses)
        return results

    __call__ = translate

    def encode(self, text: str) -> list[int]:
        """The source ids, as the model was trained on them; none for an empty text."""
        check_kind(text, str)
        limit = self.config.decode.max_source_tokens
        ids = self.src_tokenizer.encode(text)
        if len(ids) == 1 + self.src_tokenizer.sos:  # nothing but special tokens
            return []
        if len(ids) > limit:
            warn(
                f"a text of {len(text)} characters is cut to {limit} tokens "
                f"(decode.max_source_tokens): {text[:40]!r} …"
            )
            ids = [*ids[: limit - 1], EOS]
        return ids

    def _search(
        self, sources: list[list[int]], settings: DecodeConfig, use_cache: bool
    ) -> list[list[Hypothesis]]:
        src = pad_batch(sources).to(self.model.output.weight.device)  # (B, S)
        K, alpha = settings.beam_size, settings.length_penalty
        extra = settings.max_extra_tokens
        if K > 1:
            return beam_search(self.model, src, K, alpha, extra, use_cache)
        return [[h] for h in greedy_search(self.model, src, extra, alpha, use_cache)]

    def _translation(
        self, text: str, source: list[int], hypotheses: list[Hypothesis]
    ) -> Translation:
        best, tokenizer = hypotheses[0], self.tgt_tokenizer
        labels = tuple(tokenizer.lookup_tokens([*best.ids, EOS]))
        n_best = tuple((tokenizer.decode(h.ids), h.score) for h in hypotheses)
        return Translation(
            source=text,
            text=n_best[0][0],
            tokens=labels[:-1],
            score=best.score,
            n_best=n_best,
            src_labels=tuple(self._source_labels(text, source)),
            tgt_labels=labels,
            _attend=partial(self.attend, source, list(best.ids)),
        )

    def _source_labels(self, text: str, source: list[int]) -> list[str]:
        """The source tokens, with unknown words as they were written."""
        labels = self.src_tokenizer.lookup_tokens(source)
        if UNK in source:
            words = self.src_tokenizer.tokenize(text)
            n_specials = int(source[0] == SOS)
            for i, index in enumerate(source):
                if index == UNK:
                    labels[i] = words[i - n_specials]
        return labels

    @torch.no_grad()
    def attend(self, source: list[int], target: list[int]) -> Attention:
        """Attention weights while the model reads ``source`` and writes ``target``."""
        device = self.model.output.weight.device
        src = torch.tensor([source], device=device)  # (1, S)
        tgt_in = torch.tensor([[SOS, *target]], device=device)  # (1, T)
        with evaluation_mode(self.model):
            return self.model.attention(src, tgt_in)


def _without_paths(config: Config) -> Config:
    """The config with ~ for the home folder, whose path holds the user's name."""

    def short(path: str) -> str:
        home = os.path.join(os.path.expanduser("~"), "")
        return f"~/{path.removeprefix(home)}" if path.startswith(home) else path

    data = config.data.model_copy(update={"corpus": short(config.data.corpus)})
    init_from = config.train.init_from and short(config.train.init_from)
    train = config.train.model_copy(update={"init_from": init_from})
    return config.model_copy(update={"run_dir": "", "data": data, "train": train})
