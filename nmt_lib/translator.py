"""The translator: a trained model, its tokenizers and its config together; text in, translation out."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, overload

import torch
from pydantic import ValidationError

from .batching import fill_batches, pad_batch
from .config import Config, DecodeConfig
from .configs.reading import short
from .decoding import Hypothesis, beam_search, greedy_search
from .encoding import CHARACTERS
from .errors import CheckpointError, ConfigError, warn
from .runs import checkpoints as ckpt
from .runs import folder as run_folder
from .special import EOS, SOS, UNK
from .tokenizers import Tokenizer, fingerprint
from .transformer import Attention, Transformer, build_model
from .translation import Translation, checked_texts, is_visible

PRETRAINED = Path(__file__).parent / "pretrained"


class Translator:
    """Translates texts.

    Args:
        model: the Transformer; it is put into evaluation mode.
        src_tokenizer: for the texts.
        tgt_tokenizer: for the translations.
        config: how the model was made, and how to search by default (``config.decode``).
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

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        device: str | None = None,
        decode: DecodeConfig | dict[str, Any] | None = None,
    ) -> Translator:
        """Reads the folder that training or ``save`` wrote, or a model that comes with the library.

        Args:
            path: the folder, or a name such as ``"multi30k-en-de"`` (``Translator.pretrained()`` lists them).
            device: default: the GPU where there is one.
            decode: search settings to use instead of the saved ones; a dict, such as ``{"beam_size": 1}``, changes
                some of them.

        Raises:
            CheckpointError: a file is missing or damaged, or does not fit the others.
            ConfigError: search settings or a device that cannot be used.
        """
        folder = Path(path)
        if str(folder) in cls.pretrained() and not folder.exists():
            folder = PRETRAINED / folder
        if not os.path.isfile(folder / "model.safetensors"):
            if (folder / "checkpoints").is_dir():
                raise CheckpointError(
                    f"the run in {folder} is not finished: train it again, and it goes on to its end"
                )
            raise CheckpointError(
                f"no trained model in {folder}: train it first with nmt_lib.train, check the path, or name one that "
                f"comes with the library ({', '.join(cls.pretrained())})"
            )
        return cls.from_checkpoint(
            folder, ckpt.load_checkpoint(folder / "model.safetensors"), device, decode
        )

    @classmethod
    def from_checkpoint(
        cls,
        folder: Path,
        saved: ckpt.Checkpoint,
        device: str | None = None,
        decode: DecodeConfig | dict[str, Any] | None = None,
    ) -> Translator:
        """As ``load``, with the weights read already."""
        config = run_folder.read_config(folder)
        tokenizers = run_folder.load_tokenizers(folder, config.data)
        if saved.state.get("vocabulary") != fingerprint(tokenizers):
            message = f"the weights in {folder} were made with another vocabulary than its tokenizer files hold"
            raise CheckpointError(f"{message}: restore the files, or train again")
        with torch.random.fork_rng(
            devices=[]
        ):  # the fresh weights are drawn and thrown away
            model = build_model(config.model, *map(len, tokenizers))
        ckpt.load_weights(model, ckpt.part(saved.tensors, "model."))
        run_folder.check_same_run(
            config, saved.state.get("config", {}), folder / "model.safetensors"
        )
        decode = (
            decode
            if isinstance(decode, DecodeConfig)
            else _changed(config.decode, decode or {})
        )
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            model.to(device)
        except (
            RuntimeError,
            AssertionError,
        ) as error:  # PyTorch says which devices there are
            raise ConfigError(
                f"cannot use device={device!r}: {str(error).splitlines()[0]}"
            ) from None
        return cls(model, *tokenizers, config.model_copy(update={"decode": decode}))

    @staticmethod
    def pretrained() -> list[str]:
        """The names of the models that come with the library; each folder has a README with data, scores and limits."""
        return sorted(
            file.parent.name for file in PRETRAINED.glob("*/model.safetensors")
        )

    def save(self, path: str | os.PathLike[str], half: bool = False) -> None:
        """Writes all that ``load`` needs into a folder.

        Args:
            path: the folder.
            half: weights in fp16, half the size; ``load`` makes fp32 of them again.

        Raises:
            CheckpointError: the folder cannot be written, or is that of a run; the weights are not finite.
        """
        folder = Path(path)
        if (folder / "checkpoints").exists():
            raise CheckpointError(
                f"{folder} is the folder of a run, and would lose it: save into another one"
            )
        tokenizers = (self.src_tokenizer, self.tgt_tokenizer)
        dtype = torch.float16 if half else torch.float32
        weights = {
            f"model.{name}": value.to(dtype)
            for name, value in ckpt.model_state(self.model).items()
        }
        if not all(value.isfinite().all() for value in weights.values()):
            raise CheckpointError(
                "the weights are not finite, or too large for fp16: nothing was saved"
            )
        run_folder.save_copy(folder, self.config, tokenizers)
        state = {
            "vocabulary": fingerprint(tokenizers),
            "config": run_folder.fixed_keys(self.config),
        }
        saved = ckpt.Checkpoint(weights, state)
        ckpt.save_checkpoint(folder / "model.safetensors", saved)

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
        """Translates in batches of like length; what is None comes from ``config.decode``.

        Args:
            texts: one text or several. One with nothing to see (spaces, zero-width and control characters, marks
                without a letter) gives an empty translation; one over ``decode.max_source_tokens``, or over
                ``CHARACTERS`` times as many characters, is cut there, with a warning. ``<eos>`` is text like any other.
            beam_size: 1 is greedy; K > 1 also gives ``n_best``.
            length_penalty: α; 0 for none.
            batch_tokens: rows × longest source that are searched for at once.
            use_cache: off: compute each prefix from its start again (slower, same result).

        Returns:
            A ``Translation``, or a list of them in the order of the texts.

        Raises:
            TypeError: something that is no text.
            CorpusError: a text that is no valid Unicode.
            ConfigError: a beam, penalty or budget that makes no sense.
        """
        if isinstance(texts, str):
            return self.translate(
                [texts], beam_size, length_penalty, batch_tokens, use_cache
            )[0]
        texts = checked_texts(texts)
        given = {
            "beam_size": beam_size,
            "length_penalty": length_penalty,
            "batch_tokens": batch_tokens,
        }
        changes = {key: value for key, value in given.items() if value is not None}
        settings = (
            _changed(self.config.decode, changes) if changes else self.config.decode
        )
        sources = [self.encode(text) for text in texts]
        results = [Translation(text, "", (), 0.0, (("", 0.0),)) for text in texts]
        lengths = [len(source) for source in sources]
        order = sorted(
            (i for i, source in enumerate(sources) if source), key=lengths.__getitem__
        )
        for rows in fill_batches(
            order, lengths, settings.batch_tokens // settings.beam_size
        ):
            found = self._search([sources[i] for i in rows], settings, use_cache)
            for i, hypotheses in zip(rows, found, strict=True):
                results[i] = self._translation(texts[i], sources[i], hypotheses)
        return results

    __call__ = translate

    def encode(self, text: str) -> list[int]:
        """The source ids as the model was trained on them; nothing for a text with nothing to see."""
        limit = self.config.decode.max_source_tokens
        short = self._cut(text)
        if not is_visible(short):
            return []
        ids = self.src_tokenizer.encode(short)
        if (
            len(ids) == 1 + self.src_tokenizer.sos
        ):  # such as "\ufffd": its normalisation leaves nothing
            return []
        if len(ids) > limit or len(text) > len(short) == limit * CHARACTERS:
            many = (
                f"{len(ids)} tokens" if len(ids) > limit else f"{len(text)} characters"
            )
            warn(
                f"a text of {many} is cut to {limit} (decode.max_source_tokens): {text[:40]!r} …"
            )
            ids = [*ids[:-1][: limit - 1], EOS]
        return ids

    def _cut(self, text: str) -> str:
        """Tabs, newlines and doubled spaces mean nothing here; what is far too long does not reach the tokenizer."""
        return " ".join(text.split())[
            : self.config.decode.max_source_tokens * CHARACTERS
        ]

    def _search(
        self, sources: list[list[int]], settings: DecodeConfig, use_cache: bool
    ) -> list[list[Hypothesis]]:
        src = pad_batch(sources).to(self.model.output.weight.device)  # (B, S)
        alpha, extra = settings.length_penalty, settings.max_extra_tokens
        if settings.beam_size == 1:
            return [
                [h] for h in greedy_search(self.model, src, extra, alpha, use_cache)
            ]
        return beam_search(self.model, src, settings.beam_size, alpha, extra, use_cache)

    def _translation(
        self, text: str, source: list[int], hypotheses: list[Hypothesis]
    ) -> Translation:
        best = hypotheses[0]
        return Translation(
            source=text,
            text=self.tgt_tokenizer.decode(best.ids),
            tokens=tuple(self.tgt_tokenizer.lookup_tokens(best.ids)),
            score=best.score,
            n_best=tuple(
                (self.tgt_tokenizer.decode(h.ids), h.score) for h in hypotheses
            ),
            src_labels=tuple(self._source_labels(text, source)),
            tgt_labels=tuple(self.tgt_tokenizer.lookup_tokens([*best.ids, EOS])),
            _attend=partial(self.attend, source, list(best.ids)),
        )

    def _source_labels(self, text: str, source: list[int]) -> list[str]:
        """The tokens as the model sees them; an unknown word keeps its own letters, which say more than <unk>."""
        words = self.src_tokenizer.tokenize(self._cut(text))
        labels = self.src_tokenizer.lookup_tokens(source)
        first = 1 if source[0] == SOS else 0
        unknown = [i for i, index in enumerate(source) if index == UNK]
        return [
            words[i - first] if i in unknown else label
            for i, label in enumerate(labels)
        ]

    @torch.no_grad()
    def attend(self, source: list[int], target: list[int]) -> Attention:
        """The weights of all layers while the model reads ``source`` and writes ``target`` (ids)."""
        src, tgt_in = (
            torch.tensor([ids], device=self.model.output.weight.device)
            for ids in (source, [SOS, *target])
        )
        return self.model.attention(src, tgt_in)


def _changed(decode: DecodeConfig, values: dict[str, Any]) -> DecodeConfig:
    try:
        return DecodeConfig.model_validate(
            decode.model_dump() | values if isinstance(values, dict) else values
        )
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "decode"
        raise ConfigError(
            f"cannot decode with {key}={short(first['input'])}: {first['msg']}"
        ) from None
