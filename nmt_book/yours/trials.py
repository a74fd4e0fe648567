"""A reader's own functions that no translation calls: in twelve updates of a training,
in the subwords of a model that comes with the library, and in its batches."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim import Optimizer

from nmt_lib.config import load_config
from nmt_lib.data.batches import fill_batches, pad_batch
from nmt_lib.data.tokenizers import Tokenizer
from nmt_lib.data.tokens import PAD
from nmt_lib.model.attention import MultiHeadAttention, padding_mask, target_mask
from nmt_lib.model.transformer import Transformer, count_parameters
from nmt_lib.training.run_folder import PRETRAINED
from nmt_lib.translate.translator import Translator

from ..loop import OwnUpdate
from .parts import Function, ask

LEARNING_RATE = 1e-3
NO_GRADIENT = (
    "backward() starts from the loss, which must be a tensor for this: leave out "
    ".item(), float(), .detach() and the like"
)


def captions() -> list[str]:
    """Fifty English captions, written for this."""
    return (PRETRAINED / "captions.txt").read_text(encoding="utf-8").splitlines()


def library_loss(logits: Tensor, tgt_out: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD)


@lru_cache(maxsize=1)
def training_batches(translator: Translator) -> list[tuple[Tensor, Tensor]]:
    """A batch per update, captions and translations: ``(B, S)``, ``(B, T + 1)``."""
    translations = translator.translate(captions(), beam_size=1)
    src = [translator.encode(t.source) for t in translations]
    tgt = [translator.tgt_tokenizer.encode(t.text) for t in translations]
    parts = [slice(i, None, 4) for i in range(4)]
    return [(pad_batch(src[part]), pad_batch(tgt[part])) for part in parts * 3]


def trial_losses(
    translator: Translator,
    shift: Function = lambda tgt: (tgt[:, :-1], tgt[:, 1:]),
    loss: Function = library_loss,
    adam: Function | None = None,
) -> list[float]:
    """The loss before each of twelve updates of a small new model, without dropout.

    ``adam`` makes one update of the weights, as in ``OwnUpdate``.
    """
    sizes = len(translator.src_tokenizer), len(translator.tgt_tokenizer)
    curve = []
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(0)
        model = Transformer(load_config("tiny").model, *sizes).eval()
        optimizer: Optimizer = torch.optim.Adam(
            model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98), eps=1e-9
        )
        if adam is not None:
            optimizer = OwnUpdate(model.parameters(), adam, LEARNING_RATE)
        for src, tgt in training_batches(translator):
            tgt_in, tgt_out = map(torch.as_tensor, shift(tgt))  # (B, T) each
            value = loss(model(src, tgt_in), tgt_out)
            if getattr(value, "grad_fn", None) is None:
                raise TypeError(NO_GRADIENT)
            curve.append(float(value.detach()))
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    return curve


def training(name: str) -> Function:
    def trial(fn: Function, translator: Translator) -> tuple[bool, str]:
        reader = trial_losses(translator, **{name: partial(ask, fn)})
        library = trial_losses(translator)
        pairs = zip(reader, library, strict=True)
        same = all(abs(a - b) < 5e-3 for a, b in pairs)
        verdict = "yours trains as the library does"
        if not same:
            verdict = "yours does not train as the library does"
            if reader[-1] < library[-1]:
                verdict += "; lower is not better here: it may solve an easier task"
        ends = (f"{curve[0]:.3f} → {curve[-1]:.3f}" for curve in (reader, library))
        losses = "loss in 12 updates: {} (the library's: {})".format(*ends)
        return same, f"{losses}\n{verdict}"

    return trial


def merges_of(word: str, ranks: dict[str, int]) -> list[tuple[str, str]]:
    """The pairs that can be joined in a word, in the order of learning."""
    ends = range(1, len(word) + 1)
    parts = {word[i:j] for j in ends for i in range(j)}
    pieces = {part for part in parts if len(part) == 1 or part in ranks}
    pairs = [
        (ranks[part], part[:i], part[i:])
        for part in pieces
        for i in range(1, len(part))
        if part[:i] in pieces and part[i:] in pieces
    ]
    return [(left, right) for _, left, right in sorted(pairs)]


def subwords(
    cut: Callable[[Function, str, list[tuple[str, str]]], Sequence[str]],
) -> Function:
    def trial(fn: Function, translator: Translator) -> tuple[bool, str]:
        tokenizer: Tokenizer = translator.src_tokenizer
        ranks = getattr(tokenizer, "ranks", None)
        if ranks is None:
            raise TypeError("this model has words: take one with subwords")
        words = sorted({w.strip(".,") for text in captions() for w in text.split()})
        differences = []
        for word in words:
            reader = list(cut(fn, word, merges_of(f"▁{word}", ranks)))
            if reader != tokenizer.tokenize(word):
                differences.append((word, reader, tokenizer.tokenize(word)))
        n_equal = len(words) - len(differences)
        message = f"{n_equal} of {len(words)} words are cut as by the model"
        for word, reader, library in differences[:1]:
            cuts = f"yours {' '.join(reader)}, the model's {' '.join(library)}"
            message += f"\n  {word}: {cuts}"
        return not differences, message

    return trial


def with_merge(fn: Function, word: str, merges: list[tuple[str, str]]) -> Sequence[str]:
    parts = tuple(f"▁{word}")
    for pair in merges:
        parts = tuple(ask(fn, parts, pair))
    return parts


def batches(fn: Function, translator: Translator) -> tuple[bool, str]:
    draw = random.Random(0)
    lengths = sorted(min(60, 4 + int(draw.expovariate(0.1))) for _ in range(2000))
    library = [
        [lengths[i] for i in rows]
        for rows in fill_batches(range(len(lengths)), lengths, 1024)
    ]
    reader = [list(map(int, batch)) for batch in ask(fn, list(lengths), 1024)]
    room = sum(len(batch) * max(batch) for batch in reader if batch)
    share = 100 * (1 - sum(map(sum, reader)) / max(1, room))
    counts = f"{len(reader)} batches (the library: {len(library)})"
    return reader == library, f"2,000 sentences in {counts}, {share:.1f} % padding"


def all_parameters(fn: Function, translator: Translator) -> tuple[bool, str]:
    config = translator.config.model
    sizes = len(translator.src_tokenizer), len(translator.tgt_tokenizer)
    with torch.device("meta"):  # shapes without numbers
        model = Transformer(config.model_copy(update={"tying": "none"}), *sizes)
    library = count_parameters(model)
    reader = int(ask(fn, config.d_model, config.d_ff, config.n_layers, *sizes))
    message = f"in this model, untied: {reader:,} (the library counts {library:,})"
    return reader == library, message


def caption(translator: Translator) -> tuple[Tensor, Tensor]:
    """A caption, ``(1, S)``, and what the decoder reads of its translation, (1, T)."""
    translation = translator.translate(captions()[:1], beam_size=1)[0]
    src = torch.tensor([translator.encode(translation.source)])
    tgt = torch.tensor([translator.tgt_tokenizer.encode(translation.text)])
    device = translator.model.output.weight.device
    return src.to(device), tgt[:, :-1].to(device)


@torch.no_grad()
def influence(fn: Function, translator: Translator) -> tuple[bool, str]:
    """How far a word moves the logits before it, with and without the causal mask."""
    (src, tgt_in), model = caption(translator), translator.model.eval()
    effects, lines = [], []
    for name, mask in {"with": target_mask, "without": padding_mask}.items():
        logits_of = partial(lambda mask, ids: model(src, ids, None, mask(ids)), mask)
        table = ask(fn, logits_of, tgt_in.clone(), like=model.output.weight)  # (T, T)
        effect = float(table.triu(1).abs().max())
        effects.append(effect)
        moved = f"a word moves logits before it by {effect:.1f}"
        lines.append(f"{name} the causal mask, {moved}")
    return effects[0] < 1e-3 < effects[1], "\n".join(lines)


@torch.no_grad()
def mask_works(fn: Function, translator: Translator) -> tuple[bool, str]:
    """The verdict of a reader's test on three masks in the first encoder layer."""
    model = translator.model.eval()
    src = F.pad(caption(translator)[0], (0, 2), value=PAD)  # (1, S + 2)
    x, right = model.src_embedding(src), padding_mask(src)
    layer = next(m for m in model.modules() if isinstance(m, MultiHeadAttention))
    masks = {"the right mask": right, "the wrong way round": ~right, "none": None}
    verdicts = [
        bool(
            ask(
                fn,
                lambda x, m=m: layer(x[None], x[None], m)[0],
                x[0],
                src[0] == PAD,
            )
        )
        for m in masks.values()
    ]
    text = ", ".join(f"{n} {ok}" for n, ok in zip(masks, verdicts, strict=True))
    same = verdicts == [True, False, False]
    return same, f"in the first layer of this model: {text}"


TRIALS: dict[str, Function] = {
    **{name: training(name) for name in ("shift", "loss", "adam")},
    "merge": subwords(with_merge),
    "cut": subwords(lambda fn, word, merges: ask(fn, word, merges)),
    "batches": batches,
    "all_parameters": all_parameters,
    "influence": influence,
    "mask_works": mask_works,
}
