"""Five questions about a translator, and broken ones to ask them about."""

from __future__ import annotations

import inspect
import io
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from functools import cache
from types import ModuleType
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

import nmt_lib as nmt
from nmt_lib.training.loss import validation_loss

from ..yours.fault import PUZZLES, Case, Fault, broken, plant
from ..yours.symptoms import right_texts, texts
from . import script

Model = Callable[[Tensor, Tensor], Tensor]  # (B, S), (B, T) → (B, T, V)
Part = Fault | str  # of the library, or of the script: "piece → other piece"
OWN_ATTENTION = Fault(
    "MultiHeadAttention.attend",
    "F.scaled_dot_product_attention(queries, keys, values, mask)",
    "(queries @ keys.mT / 4).masked_fill(~mask, -torch.inf).softmax(-1) @ values",
)
FLAT = "logits.flatten(0, 1), tgt_out.flatten()"
ALL = "model.parameters()"

# Place → name → what is wrong. The mistakes of "input" show in the whole run only.
MISTAKES: dict[str, dict[str, tuple[Part, ...]]] = {
    "nothing": {"none": ()},
    "loss": {
        "target not shifted": ("pad([ids[1:] → pad([ids[:-1]",),
        "target shifted twice": ("ids[:-1] → ids[:-2]", "ids[1:] → ids[2:]"),
        "no <eos> in the targets": ("tgt.encode(p.tgt)) → tgt.encode(p.tgt)[:-1])",),
        "<eos> ignored by the loss": (
            f"{FLAT} → logits.flatten(0, 1), tgt_out.masked_fill(tgt_out == EOS, PAD)"
            ".flatten()",
        ),
        "padding counted in the loss": (", ignore_index=PAD →",),
        "padded with <unk>": ("[PAD] * → [1] *",),
        "softmax before the cross-entropy": (
            f"{FLAT} → logits.softmax(-1).flatten(0, 1), tgt_out.flatten()",
        ),
        "logits.view(B, V, T)": (
            f"{FLAT} → logits.reshape(len(logits), -1, logits.size(1)), tgt_out",
        ),
        "logits transposed, targets not": (
            f"{FLAT} → logits.transpose(0, 1).flatten(0, 1), tgt_out.flatten()",
        ),
        "targets encoded by the source's tokenizer": (
            "tgt.encode(p.tgt) → src.encode(p.tgt)",
        ),
        "label smoothing (no mistake)": ("=PAD) → =PAD, label_smoothing=0.1)",),
    },
    "masks": {
        "no causal mask": (
            Fault("causal_mask", "square.tril()[None, None]", "square[None, None]"),
        ),
        "causal mask off by one": (PUZZLES[7],),
        "padding not masked": (Fault("padding_mask", "(ids != pad)", "(ids == ids)"),),
        "padding mask inverted": (PUZZLES[1],),
        "heads cut by one view": (
            Fault(
                "MultiHeadAttention.split_heads",
                "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
                "x.reshape(x.size(0), self.n_heads, x.size(1), -1)",
            ),
        ),
        "heads joined by one view": (PUZZLES[11],),
        "the encoder attends along the batch": (
            Fault(
                "EncoderLayer.forward",
                "self.self_attention(h, h, src_mask)",
                "self.self_attention(h.transpose(0, 1), h.transpose(0, 1))"
                ".transpose(0, 1)",
            ),
        ),
        "a row of the mask hides everything": (
            OWN_ATTENTION,
            Fault("causal_mask", ".tril()[", ".tril(-1)["),
        ),
    },
    "updates": {
        "no zero_grad": ("        optimizer.zero_grad()\n →",),
        "optimizer of another model": (f"{ALL} → copy.deepcopy(model).parameters()",),
        "layers in a Python list": (
            f"{ALL} → [w for n, w in model.named_parameters() if '.layers.' not in n]",
        ),
        "scheduler never stepped": ("min(step / → min(0.1 /",),
        "cross-attention to the target": (
            Fault(
                "DecoderLayer.forward",
                "self.cross_attention(h, memory, src_mask, source)",
                "self.cross_attention(h, h, tgt_mask, source)",
            ),
        ),
        "encoder detached": (
            Fault(
                "Transformer.encode",
                "return self.encoder(self.src_embedding(src), src_mask)",
                "return self.encoder(self.src_embedding(src), src_mask).detach()",
            ),
        ),
    },
    "loading": {
        "weights not loaded": ("    new_model.load_state_dict(weights)\n →",),
        "only the encoder's weights loaded": (
            "load_state_dict(weights) → encoder.load_state_dict({n[8:]: w for n, w in "
            "weights.items() if n.startswith('encoder.')})",
        ),
        "vocabularies built again, from half of the pairs": (
            ".data, pairs) → .data, pairs[: len(pairs) // 2])",
        ),
    },
    "search": {
        "search starts with <pad>": (", SOS) → , PAD)",),
        "search starts with <eos>": (", SOS) → , EOS)",),
        "only the last word fed": ("model(src, tgt) → model(src, tgt[:, -1:])",),
        "the first position's logits taken": ("logits[:, -1] → logits[:, 0]",),
        "dropout on": ("    src = pad([tok →     model.train()\n    src = pad([tok",),
        "source cut at spaces": (
            "encode(text) → vocab(['<sos>', *text.split(), '<eos>'])",
        ),
        "source in capitals": ("encode(text) → encode(text.upper())",),
        "words joined by spaces": (
            "tokenizers[1].decode(row) → ' '.join(tokenizers[1].lookup_tokens(row))",
        ),
        "texts in another order": ("for text in texts → for text in sorted(texts)",),
    },
    "input": {
        "files one line apart": (
            "in pairs], [p.tgt for p in pairs] → in pairs], [p.tgt for p in "
            "[*pairs[1:], pairs[0]]]",
        ),
        "64 pairs": (),
        "20 updates": (),
        "rate ten times too high": (),
        "no positions": (PUZZLES[4],),
    },
}
PLACES = {name: place for place, names in MISTAKES.items() for name in names}


@contextmanager
def mistaken(name: str) -> Iterator[ModuleType]:
    """The script of a learner, and the library, with this mistake."""
    source = inspect.getsource(script)
    own = ModuleType(name)
    with ExitStack() as stack:
        for part in MISTAKES[PLACES[name]][name]:
            if isinstance(part, Fault):
                stack.enter_context(broken(part))
                continue
            piece, _, other = part.partition(" →")
            assert piece in source, piece
            source = source.replace(piece, other.removeprefix(" "))
        exec(source, vars(own))
        yield own


# ------------------------------------------- instruments: they use model(src, tgt) only


def batch_of(examples: Sequence[nmt.Example]) -> nmt.Batch:
    """A batch as it should be, whatever is broken elsewhere."""

    def pad(rows: list[list[int]]) -> Tensor:
        return torch.tensor([r + [0] * (max(map(len, rows)) - len(r)) for r in rows])

    targets = [list(tgt) for _, tgt in examples]
    return nmt.Batch(
        pad([list(src) for src, _ in examples]),  # (B, S)
        pad([tgt[:-1] for tgt in targets]),  # (B, T)
        pad([tgt[1:] for tgt in targets]),  # (B, T)
    )


@torch.no_grad()
def loss(model: Model, batch: nmt.Batch) -> float:
    logits = model(batch.src, batch.tgt_in)  # (B, T, V)
    return float(F.cross_entropy(logits.mT, batch.tgt_out, ignore_index=0))


@torch.no_grad()
def unseen(model: Model, batch: nmt.Batch) -> tuple[float, float]:
    """How far logits move when what they must not see is gone: padding and the
    neighbours in the batch; and when the last token of ``tgt_in`` is another."""
    logits, alone, future = model(batch.src, batch.tgt_in), 0.0, 0.0  # (B, T, V)
    for row, src, tgt in zip(logits, batch.src, batch.tgt_in, strict=True):
        src, tgt = src[src != 0], tgt[tgt != 0]
        single = model(src[None], tgt[None])[0]  # (t, V)
        alone = max(alone, float((single - row[: len(tgt)]).abs().max()))
        other = tgt.clone()
        other[-1] = 4 + (tgt[-1] == 4)
        change = model(src[None], other[None])[0] - single
        future = max(future, float(change[:-1].abs().max()))
    return alone, future


@torch.no_grad()
def written(model: Model, batch: nmt.Batch) -> list[tuple[list[int], float]]:
    """Greedy translations and their log-probabilities, by passes over one sentence."""
    found, longest = [], batch.src.size(1) + 10
    for src in batch.src:
        src, ids, score = src[src != 0], [2], 0.0
        while ids[-1] != 3 and len(ids) <= longest:
            best = model(src[None], torch.tensor([ids]))[0, -1].log_softmax(-1).max(-1)
            ids.append(int(best.indices))
            score += float(best.values)
        found.append(([i for i in ids[1:] if i != 3], score))
    return found


def backwards(batch: nmt.Batch) -> nmt.Batch:
    """The same sentences with the words of each source in reverse."""
    rows = []
    for src in batch.src.tolist():
        words = [i for i in src if i > 0]
        words[1:-1] = words[-2:0:-1]
        rows.append(words + [0] * (len(src) - len(words)))
    return batch._replace(src=torch.tensor(rows))


class Answers(NamedTuple):
    """What the questions found; losses are in nats per token."""

    own: float  # her loss of sixteen sentences
    loss: float  # ours, of the same
    learnt: float  # ... after training on nothing else
    alone: float  # how far logits move without neighbours and padding
    future: float  # ... with another last token
    moved: float = 1.0  # the fraction of the tensors that training has changed
    known: float = 0.0  # after the whole run: the loss of the sixteen
    new: float = 0.0  # ... of new sentences
    exchanged: float = 9.0  # ... with the sources of others
    reversed: float = 9.0  # ... with the words of each source in reverse
    lost: float = 0.0  # by how much the loss grows when the model is loaded
    others: int = 0  # her translations that are not those of a plain search
    map: float = 0.0  # how far the rows of a heatmap are from a sum of 1


def place(a: Answers) -> str:
    """Where to look, by the tree of the page."""
    if a.loss != a.loss:  # NaN
        return "masks"
    if abs(a.own - a.loss) > 0.001:
        return "loss"
    if max(a.alone, a.future) > 0.001:
        return "masks"
    if a.learnt > 0.2 or a.moved < 1:
        return "updates"
    if a.new > 1 or min(a.exchanged, a.reversed) - a.new < 0.3:
        return "input"
    if a.lost > 0.01:
        return "loading"
    if a.others:
        return "search"
    return "map" if a.map > 0.001 else "nothing"


class Trial(NamedTuple):
    """What a script with a mistake has trained and translated."""

    model: Model
    batch: nmt.Batch  # the sixteen, or new sentences after a whole run
    pairs: list[nmt.Pair]  # that it has translated
    texts: list[str]  # its translations
    answers: Answers


@cache
def setting() -> tuple[nmt.Config, nmt.Corpus, nmt.Tokenizers]:
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
    with mistaken(name) as own:
        pairs = own.read(corpus.train[: 64 if name == "64 pairs" else None])
        pairs = pairs if whole else pairs[:16]
        examples = sorted(own.encode(pairs, tokenizers), key=lambda e: max(map(len, e)))
        batches = [examples[i : i + 64] for i in range(0, len(examples), 64)]
        random.Random(seed).shuffle(batches)
        model = new_model(seed)
        before = [weight.clone() for weight in model.parameters()]
        steps = (20 if name == "20 updates" else 200) if whole else 100
        peak = 0.06 if "ten times" in name else 0.006 if whole else 0.003
        own.train(model, batches, steps, peak, warmup=steps // 4)
    unmoved = sum(map(torch.equal, before, model.parameters()))
    return model.eval(), 1 - unmoved / len(before)


@cache
def trial(name: str, seed: int = 0) -> Trial:
    """Asks the five questions about the script with this mistake.

    All but the mistakes of "input" show on sixteen sentences; the search is asked about
    new ones, so its mistakes and those of loading get a whole run without mistakes.
    """
    _, corpus, tokenizers = setting()
    late = PLACES[name] in ("search", "loading", "nothing")
    trained = "none" if late else name
    whole = late or PLACES[name] == "input"
    model, moved = fitted(trained, seed, False)
    with mistaken(name) as own:
        few = own.read(corpus.train[:17])[:16]
        batch = batch_of(script.encode(few, tokenizers))
        src, tgt_in, tgt_out = own.make_batch(own.encode(few, tokenizers))
        with torch.no_grad():
            own_loss = float(own.loss_of(model(src, tgt_in), tgt_out))
        known = loss(model, batch)
        answers = Answers(own_loss, known, known, *unseen(model, batch), moved)
        asked = few
        if whole:
            model, _ = fitted(trained, seed, True)
            sixteen, asked = batch, own.read(corpus.valid[:41])[:40]
            batch = batch_of(script.encode(asked, tokenizers))
            exchanged = batch._replace(src=batch.src.roll(1, 0))
            four = sixteen, batch, exchanged, backwards(batch)
            answers = Answers(*answers[:6], *(loss(model, b) for b in four))
        loaded, again = own.load(new_model(seed + 1), model.state_dict(), corpus.train)
        rows = batch_of(script.encode(asked, again))
        lost = loss(loaded, rows) - loss(model, batch)
        plain = [again[1].decode(ids) for ids, _ in written(loaded, rows)]
        texts = own.translate(loaded, [pair.src for pair in asked], again)
    others = sum(map(str.__ne__, plain, texts))
    answers = answers._replace(lost=lost, others=others)
    return Trial(as_broken(name, model), batch, asked, texts, answers)


def as_broken(name: str, model: Model) -> Model:
    """The model in a library that is as broken as the script's was."""

    def broken_model(src: Tensor, tgt_in: Tensor) -> Tensor:
        with mistaken(name), torch.no_grad():
            return model(src, tgt_in)

    return broken_model


def symptoms(texts: Sequence[str], pairs: Sequence[nmt.Pair]) -> list[str]:
    """What a reader sees of translations, in her words."""
    n, twice = len(texts), re.compile(r"(\S+) \1 \1( |$)")
    lengths = [
        (len(text.split()), len(pair.tgt.split()))
        for text, pair in zip(texts, pairs, strict=True)
    ]
    seen = {
        "says the same for everything": 4 * len({*texts}) <= n,
        "writes nothing": 2 * texts.count("") > n,
        "only <unk>": 2 * sum("<unk>" in text for text in texts) > n,
        "repeats a word": 2 * sum(bool(twice.search(text)) for text in texts) > n,
        "never stops": 2 * sum(a > b + 5 for a, b in lengths) > n,
        "stops too early": 2 * sum(a < b - 1 for a, b in lengths) > n,
    }
    right = sum(text == pair.tgt for text, pair in zip(texts, pairs, strict=True))
    other = "nothing to see" if 4 * right > 3 * n else "wrong words"
    return [symptom for symptom, is_so in seen.items() if is_so] or [other]


def examined(
    translator: nmt.Translator, sources: Sequence[str], targets: Sequence[str]
) -> Answers:
    """The questions about a translator that was trained before something broke."""
    model, tokenizers = (
        translator.model,
        (
            translator.src_tokenizer,
            translator.tgt_tokenizer,
        ),
    )
    pairs = [nmt.Pair(*pair) for pair in zip(sources, targets, strict=True)]
    examples = script.encode(pairs, tokenizers)
    batch = batch_of(examples)
    exchanged = batch._replace(src=batch.src.roll(1, 0))
    losses = [loss(model, b) for b in (batch, batch, exchanged, backwards(batch))]
    others = 0
    greedy = translator.translate(sources, beam_size=1)
    beams = translator.translate(sources, beam_size=4)
    for g, b, (ids, score) in zip(greedy, beams, written(model, batch), strict=True):
        same = g.text == tokenizers[1].decode(ids) and abs(g.score - score) < 0.01
        others += not (same and b.score == max(s for _, s in b.n_best))
    sums = greedy[0].attention.cross[-1].sum(-1)  # (1, H, T)
    off = float((sums - 1).abs().max()) + (greedy[0].tgt_labels[-1] != "<eos>")
    own = validation_loss(model, [nmt.make_batch(examples)])
    hidden = unseen(model, batch)
    return Answers(own, losses[0], 0.0, *hidden, 1.0, *losses, 0.0, others, off)


def hide(number: int) -> Case:
    """Plants one of the faults of ``book.plant`` without telling which."""
    with redirect_stdout(io.StringIO()):
        return plant(random.Random(number).randint(1, len(PUZZLES)))


def ask(translator: nmt.Translator) -> Answers:
    """``examined`` with twelve captions, and what a healthy model makes of them."""
    return examined(translator, texts(), right_texts())
