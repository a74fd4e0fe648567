"""Recurrent translators beside the Transformer: who translates better, and how fast.

Run: ``OMP_NUM_THREADS=1 python -m benchmarks.recurrent [--seeds 0 1 2]``. The learning
rate of each model is chosen on the validation loss of the first seed. A run that was
cut off resumes; each training takes about half a minute. Seconds are CPU seconds.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import nmt_lib as nmt
from benchmarks import common
from nmt_book.deeper_00.lab import CellLoop, Writer, fit, training_step
from nmt_book.deeper_00.recurrent import Bahdanau, OneVector

RATES = 0.003, 0.006, 0.012, 0.024, 0.048
LENGTHS = (4, 7), (8, 10), (11, 14)  # source tokens, without special ones
WATCHED = 50, 100, 150, 200, 300, 400, 600, 800  # updates
GOOD = 0.2  # a validation loss that each may reach
Make = Callable[[int, int], nn.Module]
MODELS: dict[str, Make | None] = {
    "one vector": OneVector,
    "Bahdanau": Bahdanau,
    "Transformer": None,  # that of the config
    "Bahdanau, read one way": lambda n, m: Bahdanau(n, m, hidden=107, both_ways=False),
}
CONTROLS: dict[str, tuple[Make, int]] = {  # the model, and how many updates it gets
    "one vector, 3 × the updates": (OneVector, 3),
    "one vector, state of 300": (lambda n, m: OneVector(n, m, hidden=300), 1),
}
SIZES = 8, 16, 32, 64, 128, 256, 512
STEPS = (33, 64), (257, 512), (1025, 2048)


def main() -> None:
    seeds = common.seeds(0, 1, 2)
    torch.set_num_threads(1)
    chosen = rates(seeds[0])
    quality(chosen, seeds)
    layers()
    writing()


# Who translates better?


def rates(seed: int) -> dict[str, float]:
    """The learning rate of each model that has the lowest validation loss."""
    rows, chosen = [], {}
    for name, make in MODELS.items():
        found = {lr: trained(name, make, lr, seed) for lr in RATES}
        chosen[name] = min(RATES, key=lambda lr: found[lr]["loss"])
        cells = [f"{sum(run['right'])} / {run['loss']:.3f}" for run in found.values()]
        rows.append([name, *cells])
    common.write_table(
        "recurrent_rates",
        "The learning rate of recurrent translators",
        f"model | {' | '.join(map(str, RATES))}",
        rows,
        f"Exactly right of 500 test sentences / validation loss; seed {seed}, 800 "
        f"updates of the config `tiny`. {common.machine()}.",
    )
    return chosen


def quality(chosen: Mapping[str, float], seeds: Sequence[int]) -> None:
    jobs: list[Any] = [(name, make, chosen[name], 1) for name, make in MODELS.items()]
    for name, (make, times) in CONTROLS.items():
        jobs.append((name, make, chosen["one vector"], times))
    rows = []
    for name, make, lr, times in jobs:
        runs = [trained(name, make, lr, seed, times) for seed in seeds]
        right = [[run["right"][i] for run in runs] for i in range(len(LENGTHS))]
        rows.append(
            [
                name,
                f"{runs[0]['parameters']:,}",
                lr,
                listed(map(sum, zip(*right, strict=True))),
                *map(listed, right),
                listed(f"{run['loss']:.3f}" for run in runs),
                ", ".join(
                    f"{statistics.mean(run['curve'][str(step)] for run in runs):.2f}"
                    for step in WATCHED
                    if str(step) in runs[0]["curve"]
                ),
                listed(run["reached"] or "–" for run in runs),
                listed(f"{run['seconds']:.0f}" for run in runs),
                listed(f"{run['aer']:.3f}" for run in runs),
            ]
        )
    sizes = runs[0]["sizes"]
    groups = " | ".join(
        f"{low}–{high} words ({n})"
        for (low, high), n in zip(LENGTHS, sizes, strict=True)
    )
    common.write_table(
        "recurrent",
        "Recurrent translators and the Transformer: exactly right test sentences",
        f"model | parameters | learning rate | of {sum(sizes)} | {groups} | validation "
        f"loss | it after {', '.join(map(str, WATCHED))} updates | updates to {GOOD} | "
        "CPU s | alignment error rate",
        rows,
        "The config `tiny`: same batches, 800 updates, mean of the last five "
        "checkpoints, greedy search. GRUs: gradients clipped at 1.0. Seeds "
        f"{', '.join(map(str, seeds))}. Words: source tokens, with the full stop. "
        "Alignment: the only map, or the Transformer's head that is best on 100 "
        f"validation sentences. {common.machine()}.",
    )


def listed(values: Any) -> str:
    return ", ".join(map(str, values))


def trained(
    name: str, make: Make | None, lr: float, seed: int, times: int = 1
) -> dict[str, Any]:
    """Trains and measures one model, or reads what an earlier call has measured."""
    file = common.home() / "recurrent" / f"{name} {lr} {seed}.json".replace(" ", "_")
    if file.exists():
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found
    config = common.load_config("tiny", **{"train.seed": seed})
    changes: dict[str, Any] = {"train.lr": lr}
    changes["train.max_steps"] = times * config.train.max_steps
    if make is not None:
        changes["train.clip_norm"] = 1.0
    config = nmt.load_config(config, **changes)
    corpus = nmt.load_corpus(config.data)
    tokenizers = nmt.build_tokenizers(config.data, corpus.train)
    examples = nmt.encode_pairs(corpus.train, tokenizers, config)
    n_src, n_tgt = map(len, tokenizers)
    valid = [nmt.make_batch(nmt.encode_pairs(corpus.valid, tokenizers, config))]
    curve: dict[int, float] = {}
    spent = 0.0

    def built() -> nn.Module:
        if make is None:
            return nmt.Transformer(config.model, n_src, n_tgt)
        return make(n_src, n_tgt)

    def watch(model: Any, step: int) -> None:
        nonlocal spent
        if step % 50 == 0 or common.DRY:
            start = time.process_time()
            curve[step] = nmt.validation_loss(model, valid)
            spent += time.process_time() - start

    start = time.process_time()
    model = fit(built, config, examples, watch)
    seconds = time.process_time() - start - spent
    translator = nmt.Translator(model, *tokenizers, config)
    texts = [pair.src for pair in corpus.test]
    said = translator.translate(texts, beam_size=1, use_cache=make is None)
    groups = [in_group(translator.src_tokenizer, text) for text in texts]
    right = [
        sum(
            one.text == pair.tgt and group == i
            for one, pair, group in zip(said, corpus.test, groups, strict=True)
        )
        for i in range(len(LENGTHS))
    ]
    found = {
        "parameters": nmt.count_parameters(model),
        "right": right,
        "sizes": [groups.count(i) for i in range(len(LENGTHS))],
        "loss": nmt.validation_loss(model, valid),
        "curve": curve,
        "reached": next((step for step, loss in curve.items() if loss <= GOOD), None),
        "seconds": seconds,
        "aer": error_rate(translator, corpus),
    }
    print(name, lr, seed, found, flush=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found), encoding="utf-8")
    loaded: dict[str, Any] = json.loads(json.dumps(found))  # its keys are texts
    return loaded


def in_group(tokenizer: Any, text: str) -> int:
    n = len(tokenizer.tokenize(text))
    return next(i for i, (_, high) in enumerate(LENGTHS) if n <= high or i == 2)


def error_rate(translator: nmt.Translator, corpus: nmt.Corpus) -> float:
    """Of the head that is best on the validation set, over the test set."""

    def of_heads(pairs: Sequence[nmt.Pair]) -> Tensor:
        found = []
        for pair in pairs:
            if not pair.alignment:
                continue
            target = translator.tgt_tokenizer.encode(pair.tgt, sos=False, eos=False)
            cross = translator.attend(translator.encode(pair.src), target).cross
            heads = torch.cat(cross).flatten(0, 1)  # (n_layers · H, T, S)
            gold = list(pair.alignment)
            found.append([nmt.alignment_error_rate(head, gold) for head in heads])
        return torch.tensor(found).mean(0)  # (n_layers · H)

    if type(translator.model) is OneVector or common.DRY:
        return float("nan")
    best = int(of_heads(corpus.valid[:100]).argmin())
    return float(of_heads(corpus.test)[best])


# What does a layer take?


def layers() -> None:
    """One sentence through a layer of the width of the paper's, n words long."""
    D, n_heads, sizes = (16, 2, SIZES[:2]) if common.DRY else (512, 8, SIZES)
    torch.manual_seed(0)
    made: dict[str, nn.Module] = {
        "nn.GRU": nn.GRU(D, D, batch_first=True),
        "GRUCell in a Python loop": CellLoop(D),
        "nmt.MultiHeadAttention": nmt.MultiHeadAttention(D, n_heads),
        "encoder layer": encoder_layer(D, n_heads),
    }
    seconds: dict[str, list[str]] = {name: [] for name in made}
    operations: dict[str, list[str]] = {name: [] for name in made}
    for n in sizes:
        x = torch.randn(1, n, D)
        todo = {name: training_step(layer, x) for name, layer in made.items()}
        found = common.alternate(todo, max(3, 160 // n), time.process_time)
        for name, layer in made.items():
            milliseconds = 1000 * statistics.median(found[name])
            seconds[name].append(f"{milliseconds:.3g}")
            operations[name].append(f"{flops(layer, x) / 1e6:.1f}")
    rows = [[name, "ms", *cells] for name, cells in seconds.items()]
    rows += [[name, "MFLOP, forward", *cells] for name, cells in operations.items()]
    common.write_table(
        "recurrent_layers",
        f"A layer of width {D}: one training step on one sentence of n words",
        f"layer | unit | {' | '.join(f'n = {n}' for n in sizes)}",
        rows,
        "Forward and backward, the median, in CPU milliseconds on one thread. "
        "Operations are counted by PyTorch, 2 for a multiplication and an addition. "
        f"{common.machine()}.",
    )


def encoder_layer(D: int, n_heads: int) -> nn.Module:
    shape = {"model.d_model": D, "model.n_heads": n_heads, "model.d_ff": 4 * D}
    config = nmt.load_config("tiny", **shape, **{"model.dropout": 0.0})

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nmt.EncoderLayer(config.model)

        def forward(self, x: Tensor, memory: Tensor, mask: None = None) -> Tensor:
            result: Tensor = self.layer(x, mask)
            return result

    return Layer()


def flops(layer: nn.Module, x: Tensor) -> int:
    """Of the forward pass; the written-out softmax, since the fused is not counted."""
    counter = FlopCounterMode(display=False)
    with counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        layer(x) if isinstance(layer, nn.GRU) else layer(x, x, None)
    return int(counter.get_total_flops())


# What does a written word take?


@torch.inference_mode()
def writing() -> None:
    config = common.load_config("tiny")
    n_src, n_tgt = 184, 255  # the vocabularies of tiny
    torch.manual_seed(0)
    made = {
        "one vector": OneVector(n_src, n_tgt),
        "Bahdanau": Bahdanau(n_src, n_tgt),
        "Transformer, cached": nmt.Transformer(config.model, n_src, n_tgt),
    }
    steps = STEPS[:1] if common.DRY else STEPS
    rows = []
    for B in (1, 64):
        for name, model in made.items():
            src = torch.randint(4, n_src, (B, 12))
            writer, token = Writer(model.eval(), src), torch.full((B, 1), 4)
            reach = steps if B == 1 else steps[:2]
            cells: list[object] = []
            taken = []
            for _ in range(reach[-1][1]):
                start = time.process_time()
                writer(token)
                taken.append(time.process_time() - start)
            for low, high in reach:
                middle = statistics.median(taken[low - 1 : high])
                cells.append(f"{1e6 * middle:.0f}")
            cells += ["–"] * (len(steps) - len(reach))
            rows.append([B, name, *cells, f"{writer.n_bytes() / B:,.0f}", reach[-1][1]])
    common.write_table(
        "recurrent_writing",
        "What writing one more word takes, in µs for the whole batch",
        "sentences | model | "
        + " | ".join(f"step {low} to {high}" for low, high in steps)
        + " | bytes kept a sentence | after step",
        rows,
        "Greedy, the median, CPU time on one thread; sources of 12 tokens, random "
        "weights in the shapes of `recurrent.md`. The cache grows in blocks, and its "
        f"bytes count the room that it has. {common.machine()}.",
    )


if __name__ == "__main__":
    main()
