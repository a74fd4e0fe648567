"""Recurrent translators beside the Transformer: who translates better, and how fast.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.deeper_00.tables [--seeds 0 1 2]``. The
learning rate of each model is chosen on the validation loss of the first seed. All of
it takes about half an hour. Seconds are CPU seconds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

import nmt_lib as nmt

from .. import benchmark
from . import lab
from .recurrent import Bahdanau, OneVector

RATES = 0.003, 0.006, 0.012, 0.024, 0.048
GOOD = 0.2  # a validation loss that each may reach
Make = Callable[[int, int], nn.Module]
MODELS: dict[str, Make] = {
    "one vector": OneVector,
    "Bahdanau": Bahdanau,
    "Transformer": lambda *sizes: nmt.Transformer(tiny().model, *sizes),
    "Bahdanau, read one way": partial(Bahdanau, hidden=107, both_ways=False),
}
CONTROLS: dict[str, tuple[Make, int]] = {  # the model, and how many times the updates
    "one vector, 3 × the updates": (OneVector, 3),
    "one vector, state of 300": (partial(OneVector, hidden=300), 1),
}
STEPS = (33, 64), (257, 512), (1025, 2048)


def main() -> None:
    seeds = benchmark.seeds(0, 1, 2)
    torch.set_num_threads(1)
    quality(rates(seeds[0]), seeds)
    writing()


# Who translates better?


def rates(seed: int) -> dict[str, float]:
    """The learning rate of each model that has the lowest validation loss."""
    rows, best = [], {}
    for name, make in MODELS.items():
        runs = {lr: measurement(make, lr, seed) for lr in RATES}
        best[name] = min(RATES, key=lambda lr: runs[lr]["loss"])
        cells = [f"{run['right'][0]} / {run['loss']:.3f}" for run in runs.values()]
        rows.append([name, *cells])
    benchmark.write_table(
        "recurrent_rates",
        "The learning rate of recurrent translators",
        f"model | {' | '.join(map(str, RATES))}",
        rows,
        f"Exactly right of 500 test sentences / validation loss; seed {seed}, 800 "
        "updates of the config `tiny`.",
    )
    return best


def quality(best: Mapping[str, float], seeds: Sequence[int]) -> None:
    models = {name: (make, 1, best[name]) for name, make in MODELS.items()}
    for name, job in CONTROLS.items():
        models[name] = *job, best["one vector"]
    rows = []
    for name, (make, times, lr) in models.items():
        runs = [measurement(make, lr, seed, times) for seed in seeds]
        cells = zip(*(run["right"] for run in runs), strict=True)
        rows.append(
            [
                *(name, f"{runs[0]['parameters']:,}", lr),
                *map(listing, cells),
                listing(f"{run['loss']:.3f}" for run in runs),
                listing(run["reached"] for run in runs),
                listing(f"{run['seconds']:.0f}" for run in runs),
                listing(f"{run['aer']:.3f}" for run in runs),
            ]
        )
    benchmark.write_table(
        "recurrent",
        "Recurrent translators and the Transformer: exactly right test sentences",
        f"model | parameters | learning rate | {' | '.join(runs[0]['groups'])} | "
        f"validation loss | updates to {GOOD} | CPU s | alignment error rate",
        rows,
        "The config `tiny`: same batches, 800 updates, mean of the last five "
        "checkpoints, greedy search. GRUs: gradients clipped at 1.0. Seeds "
        f"{listing(seeds)}. Words: source tokens, with the full stop. "
        "Alignment: the only map, or the Transformer's head that is best on 100 "
        "validation sentences.",
    )


def listing(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def tiny(**changes: Any) -> nmt.Config:
    return benchmark.load_config("tiny", **changes)


@cache
def measurement(make: Make, lr: float, seed: int, times: int = 1) -> dict[str, Any]:
    """Trains and measures one model."""
    steps = times * tiny().train.max_steps
    clip = None if make is MODELS["Transformer"] else 1.0
    changes = {"train.lr": lr, "train.max_steps": steps, "train.clip_norm": clip}
    config = nmt.load_config(tiny(**{"train.seed": seed}), **changes)
    corpus = nmt.load_corpus(config.data)
    tokenizers = nmt.build_tokenizers(config.data, corpus.train)
    examples = nmt.encode_pairs(corpus.train, tokenizers, config)
    valid = [nmt.make_batch(nmt.encode_pairs(corpus.valid, tokenizers, config))]
    curve: dict[int, float] = {}
    clock = time.process_time
    start, overhead = clock(), 0.0

    def callback(model: Any, step: int) -> None:
        nonlocal overhead
        if step % 50 == 0 or benchmark.DRY:
            instant = clock()
            curve[step] = nmt.validation_loss(model, valid)
            overhead += clock() - instant

    model = lab.fit(lambda: make(*map(len, tokenizers)), config, examples, callback)
    seconds = clock() - start - overhead
    translator = nmt.Translator(model, *tokenizers, config)
    texts = [pair.src for pair in corpus.test]
    translations = translator.translate(texts, beam_size=1, use_cache=False)
    groups = lab.by_length(translator, translations, corpus.test)
    groups = {"all": [*chain(*groups.values())], **groups}
    return {
        "parameters": nmt.count_parameters(model),
        "right": [*map(sum, groups.values())],
        "groups": [f"{name} ({len(group)})" for name, group in groups.items()],
        "loss": nmt.validation_loss(model, valid),
        "reached": next((step for step in curve if curve[step] <= GOOD), "–"),
        "seconds": seconds,
        "aer": error_rate(translator, corpus),
    }


def error_rate(translator: nmt.Translator, corpus: nmt.Corpus) -> float:
    """Of the head that is best on the validation set, over the test set."""

    def of_heads(pairs: Sequence[nmt.Pair]) -> Tensor:
        rates = []
        for pair in pairs:
            if not pair.alignment:
                continue
            target = translator.tgt_tokenizer.encode(pair.tgt, sos=False, eos=False)
            cross = translator.attend(translator.encode(pair.src), target).cross
            heads = torch.cat(cross).flatten(0, 1)[:, :-1]  # (n_layers · H, T, S)
            gold = list(pair.alignment)
            rates.append([nmt.alignment_error_rate(head, gold) for head in heads])
        return torch.tensor(rates).mean(0)  # (n_layers · H)

    if type(translator.model) is OneVector or benchmark.DRY:
        return float("nan")
    best = int(of_heads(corpus.valid[:100]).argmin())
    return float(of_heads(corpus.test)[best])


# What does a written word take?


@torch.inference_mode()
def writing() -> None:
    torch.manual_seed(0)
    sizes = 184, 255  # the vocabularies of tiny
    one_vector: Any = MODELS["one vector"](*sizes).eval()
    transformer: Any = MODELS["Transformer"](*sizes).eval()
    src, token = torch.randint(4, sizes[0], (1, 12)), torch.full((1, 1), 4)
    mask = nmt.padding_mask(src)  # (1, 1, 1, S)
    state = one_vector.encode(src)  # (1, 1, H)
    memory = transformer.encode(src, mask)  # (1, S, D)
    caches = transformer.decoder.make_caches(memory)

    def recurrent() -> None:
        nonlocal state
        x, state = one_vector.decoder(one_vector.tgt_embedding(token), state)
        one_vector.output(x)

    def cached() -> None:
        transformer.output(transformer.decode(token, memory, mask, caches=caches))

    steps, rows = STEPS[:1] if benchmark.DRY else STEPS, []
    for name, write in {"one vector": recurrent, "Transformer, cached": cached}.items():
        times = []
        for _ in range(steps[-1][1]):
            start = time.process_time()
            write()
            times.append(time.process_time() - start)
        medians = [statistics.median(times[low - 1 : high]) for low, high in steps]
        rows.append([name, *(f"{1e6 * median:.0f}" for median in medians)])
    benchmark.write_table(
        "recurrent_writing",
        "What writing one_vector more word takes, in µs",
        f"model | {' | '.join(f'words {low} to {high}' for low, high in steps)}",
        rows,
        "One sentence, greedy, the median, CPU time on one thread; a source of 12 "
        "tokens, random weights in the shapes of `recurrent.md`.",
    )


if __name__ == "__main__":
    main()
