"""Five questions about a translator, and broken ones to ask them about."""

from __future__ import annotations

import inspect
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from types import ModuleType
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

import nmt_lib as nmt
from nmt_lib.data.tokenizers import Tokenizers
from nmt_lib.training.loss import validation_loss

from ..pictures.data import load_data
from ..yours.fault import PUZZLES, Fault, broken
from ..yours.symptoms import right_texts, texts
from . import script

Model = Callable[[Tensor, Tensor], Tensor]  # (B, S), (B, T) → (B, T, V)
MISTAKES = load_data("deeper_07/mistakes")
PLACES = {name: place for place, names in MISTAKES.items() for name in names}


@contextmanager
def mistaken(name: str) -> Iterator[ModuleType]:
    """The script of a learner, and the library, with this mistake."""
    source = inspect.getsource(script)
    own = ModuleType(name)
    with ExitStack() as stack:
        for part in MISTAKES[PLACES[name]][name]:
            if isinstance(part, int):
                stack.enter_context(broken(PUZZLES[part]))
            elif len(part) == 3:
                stack.enter_context(broken(Fault(*part)))
            else:
                assert part[0] in source, part
                source = source.replace(*part)
        exec(source, vars(own))
        yield own


# ------------------------------------------ instruments, of ``script`` as it should be


def batch_of(pairs: Sequence[nmt.Pair], tokenizers: Tokenizers) -> nmt.Batch:
    """A batch as it should be, whatever is broken elsewhere."""
    return nmt.Batch(*script.make_batch(script.encode(pairs, tokenizers)))


@torch.no_grad()
def loss(model: Model, batch: nmt.Batch) -> float:
    return float(script.loss_of(model(batch.src, batch.tgt_in), batch.tgt_out))


@torch.no_grad()
def unseen(model: Model, batch: nmt.Batch) -> tuple[float, float]:
    """How far logits move when what they must not see is gone: padding and the
    neighbours in the batch; and when the last token of ``tgt_in`` is another."""
    moves, logits = [], model(batch.src, batch.tgt_in)  # (B, T, V)
    for row, src, tgt in zip(logits, batch.src, batch.tgt_in, strict=True):
        src, tgt = src[None, src != 0], tgt[None, tgt != 0]  # (1, S), (1, T)
        other = F.pad(tgt[:, :-1], (0, 1), value=3)  # (1, T)
        alone, changed = (model(src, ids)[0] for ids in (tgt, other))  # (T, V) each
        apart = alone - row[: len(alone)], (changed - alone)[:-1]
        moves.append([each.abs().max() for each in apart])
    alone, future = torch.tensor(moves).amax(0).tolist()
    return alone, future


def readings(model: Model, batch: nmt.Batch) -> list[float]:
    """The loss, also with the sources of others and with their words in reverse."""
    rows = [src[src != 0] for src in batch.src]
    turned = [torch.cat([row[:1], row[1:-1].flip(0), row[-1:]]) for row in rows]
    sources = batch.src, batch.src.roll(1, 0), pad_sequence(turned, batch_first=True)
    return [loss(model, batch._replace(src=src)) for src in sources]


class Answers(NamedTuple):
    """What the questions found; losses are in nats per token."""

    own: float  # her loss of sixteen sentences
    ours: float  # our loss of the same
    learnt: float  # ... after training on nothing else
    alone: float  # how far logits move without neighbours and padding
    future: float  # ... with another last token
    moved: float = 1.0  # the fraction of the tensors that training has changed
    new: float = 0.0  # after the whole run: the loss of new sentences
    exchanged: float = 9.0  # ... with the sources of others
    reversed: float = 9.0  # ... with the words of each source in reverse
    lost: float = 0.0  # by how much the loss grows when the model is loaded
    others: float = 0  # her translations that are not those of a plain search

    def __repr__(self) -> str:
        return "\n".join(f"{n:9} {value:.3f}" for n, value in self._asdict().items())


def place(a: Answers) -> str:
    """Where to look, by the tree of the page."""
    if a.ours != a.ours:  # NaN
        return "masks"
    if abs(a.own - a.ours) > 0.001:
        return "loss"
    if max(a.alone, a.future) > 0.001:
        return "masks"
    if a.learnt > 0.2 or a.moved < 1:
        return "updates"
    if a.new > 1 or min(a.exchanged, a.reversed) - a.new < 0.3:
        return "input"
    if a.lost > 0.01:
        return "loading"
    return "search" if a.others else "nothing"


class Trial(NamedTuple):
    """What a script with a mistake has trained and translated."""

    model: nmt.Transformer  # its weights, in whatever the library is now
    batch: nmt.Batch  # the sixteen, or new sentences after a whole run
    pairs: list[nmt.Pair]  # that it has translated
    texts: list[str]  # its translations
    answers: Answers


@cache
def setting() -> tuple[nmt.Config, nmt.Corpus, Tokenizers]:
    """The tiny corpus, and a model of one layer."""
    config = nmt.load_config("tiny", **{"model.n_layers": 1})
    corpus = nmt.load_corpus(config.data)
    return config, corpus, nmt.build_tokenizers(config.data, corpus.train)


def new_model(seed: int) -> nmt.Transformer:
    config, _, tokenizers = setting()
    torch.manual_seed(seed)
    return nmt.Transformer(config.model, *map(len, tokenizers))


@cache
def fitted(name: str, seed: int, whole: bool) -> tuple[nmt.Transformer, float]:
    """A model that the script has trained, and the fraction of its tensors that moved.

    Sixteen sentences take 100 updates, the whole corpus 200.
    """
    _, corpus, tokenizers = setting()
    model = new_model(seed)
    before = [weight.clone() for weight in model.parameters()]
    with mistaken(name) as own:
        pairs = own.read(corpus.train)
        pairs = pairs if whole else pairs[:16]
        examples = sorted(own.encode(pairs, tokenizers), key=lambda e: max(map(len, e)))
        batches = [examples[i : i + 64] for i in range(0, len(examples), 64)]
        random.Random(seed).shuffle(batches)
        steps = (20 if name == "20 updates" else 200) if whole else 100
        peak = 0.006 if whole else 0.003
        own.train(model, batches, steps, peak, warmup=steps // 4)
    unmoved = sum(map(torch.equal, before, model.parameters()))
    return model.eval().requires_grad_(False), 1 - unmoved / len(before)


@cache
def trial(name: str, seed: int = 0) -> Trial:
    """Asks the five questions about the script with this mistake.

    All but the mistakes of "input" show on sixteen sentences; the search is asked about
    new ones, so its mistakes and those of loading get a whole run without mistakes.
    """
    _, corpus, tokenizers = setting()
    late = PLACES[name] in ("search", "loading", "nothing")
    trained = "none" if late else name
    model, moved = fitted(trained, seed, False)
    with mistaken(name) as own:
        asked = own.read(corpus.train[:17])[:16]
        batch = batch_of(asked, tokenizers)
        src, tgt_in, tgt_out = own.make_batch(own.encode(asked, tokenizers))
        with torch.no_grad():
            own_loss = float(own.loss_of(model(src, tgt_in), tgt_out))
        ours = loss(model, batch)
        answers = Answers(own_loss, ours, ours, *unseen(model, batch), moved)
        if late or PLACES[name] == "input":
            model, _ = fitted(trained, seed, True)
            asked = own.read(corpus.valid[:41])[:40]
            batch = batch_of(asked, tokenizers)
            answers = Answers(*answers[:6], *readings(model, batch))
        loaded, again = own.load(new_model(seed + 1), model.state_dict(), corpus.train)
        lost = loss(loaded, batch_of(asked, again)) - loss(model, batch)
        sources = [pair.src for pair in asked]
        found = own.translate(loaded, sources, again)
        loaded.eval()
        plain = script.translate(loaded, sources, again)
    others = sum(map(str.__ne__, plain, found))
    return Trial(model, batch, asked, found, answers._replace(lost=lost, others=others))


def symptoms(found: Sequence[str], pairs: Sequence[nmt.Pair]) -> list[str]:
    """What a reader sees of most translations, in her words."""
    seen, n = Counter[str](), len(found)
    for text, pair in zip(found, pairs, strict=True):
        more = len(text.split()) - len(pair.tgt.split())
        signs = {
            "says the same for everything": 4 * len({*found}) <= n,
            "writes nothing": not text,
            "only <unk>": "<unk>" in text,
            "repeats a word": re.search(r"(?<!\S)(\S+) \1 \1(?!\S)", text),
            "never stops": more > 5,
            "stops too early": more < -1,
            "": text == pair.tgt,
        }
        seen.update(sign for sign, is_seen in signs.items() if is_seen)
    other = "nothing to see" if 4 * seen.pop("", 0) > 3 * n else "wrong words"
    return [sign for sign, times in seen.items() if 2 * times > n] or [other]


def ask(translator: nmt.Translator) -> Answers:
    """The questions about a translator that was trained before something broke, with
    twelve captions and what a healthy library makes of them."""
    model = translator.model
    tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
    pairs = list(map(nmt.Pair, texts(), right_texts()))
    batch = batch_of(pairs, tokenizers)
    own = validation_loss(model, [nmt.make_batch(script.encode(pairs, tokenizers))])
    found, plain = (
        translator.translate(texts(), beam_size=4, use_cache=cached)
        for cached in (True, False)
    )
    others = sum(
        abs(a.score - b.score) > 0.01 or a.score < max(score for _, score in a.n_best)
        for a, b in zip(found, plain, strict=True)
    )
    ours, *read = readings(model, batch)
    first = Answers(own, ours, 0, *unseen(model, batch), 1, ours, *read)
    return first._replace(others=others)
