"""Tokens per second of a training step, and its share of the matrix-multiply peak, by
shape, precision and batch size.

The peak is measured on large square matrices. Operations are counted by
``torch.utils.flop_counter``, with attention written out, since it does not see the
fused call of a CPU. Run: ``OMP_NUM_THREADS=1 python -m benchmarks.scaling``
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Callable

import torch
from torch import nn

import nmt_lib as nmt
from benchmarks import common
from nmt_book import benchmark

LENGTH, VOCAB = 32, 10_000  # tokens per sentence, subwords
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def seconds(call: Callable[[], object], repeats: int) -> float:
    """The median time of a call, after one untimed."""
    return statistics.median(benchmark.alternate({"": call}, repeats)[""])


def peak(precision: str, size: int) -> float:
    """Operations per second of a large matrix product, the fastest of ten."""
    shape = (size, size)
    a, b = (torch.randn(shape, device=DEVICE).to(DTYPES[precision]) for _ in "ab")
    return 2 * size**3 / min(seconds(lambda: a @ b, 1) for _ in range(10))


def measure(
    shape: str, precision: str, compiled: bool, batch_tokens: int, size: int
) -> list[str]:
    """The measured cells of one row: training steps on one batch of sentences of equal
    length, and the peak."""
    torch.compiler.reset()  # each row compiles for its own shapes
    config = benchmark.load_config("multi30k", **common.SHAPES[shape])
    torch.manual_seed(0)
    model = nmt.Transformer(config.model, VOCAB, VOCAB)
    objective = nmt.Objective(model, 0.1).to(DEVICE)
    rows = torch.randint(4, VOCAB, (batch_tokens // LENGTH, LENGTH)).tolist()
    batch = nmt.make_batch([(row, [nmt.SOS, *row]) for row in rows]).to(DEVICE)
    call, bf16 = nn.Module.__call__, precision == "bf16"
    batches = itertools.repeat(batch)
    update = common.stepper(objective, call, config.train, batches, bf16)
    flops = benchmark.flops(update)
    if compiled:
        model.encoder.compile()
        model.decoder.compile()
    memory = "–"
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
    duration = seconds(update, 5)
    if DEVICE == "cuda":
        memory = f"{torch.cuda.max_memory_allocated() / 2**20:,.0f}"
    top = peak(precision, size)
    return [
        f"{batch.n_tokens / duration:,.0f}",
        f"{flops / batch.n_tokens / 1e6:.1f}",
        f"{100 * flops / duration / top:.0f} %",
        memory,
        f"{top / 1e12:.3g}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    gpu = DEVICE == "cuda"
    tokens, precisions = ([8192, 65536], [*DTYPES]) if gpu else ([512, 2048], ["fp32"])
    parser.add_argument("--precisions", nargs="+", choices=DTYPES, default=precisions)
    options = benchmark.parse(parser)
    if gpu:
        torch.set_float32_matmul_precision("high")  # TF32, as the note says
    size = 64 if options.dry else 8192 if gpu else 1024
    rows: list[list[object]] = []
    for shape, precision in itertools.product(common.SHAPES, options.precisions):
        choices = (False, True) if gpu and precision == "bf16" else (False,)
        for compiled, n in itertools.product(choices, tokens):
            try:
                cells = measure(shape, precision, compiled, n, size)
            except torch.cuda.OutOfMemoryError:
                cells = ["out of memory", "", "", "", ""]
            rows.append([shape, precision, "yes" if compiled else "no", n, *cells])
            write(rows, size)  # after each row, so a crash loses nothing


def write(rows: list[list[object]], size: int) -> None:
    benchmark.write_table(
        "scaling",
        "A training step: speed, and share of the measured peak",
        "shape | precision | compiled | target tokens a batch | target tokens a second "
        "| MFLOP a target token | share of the peak | memory, MiB | peak, TFLOP/s",
        rows,
        f"Sentences of {LENGTH} tokens on both sides, {VOCAB:,} subwords, three-way "
        "tied; forward, backward, fused Adam; median of 5. Peak: the fastest of ten "
        f"products of {size} × {size} matrices, right after the row was measured. On a "
        "GPU, products of fp32 are in TF32.",
    )


if __name__ == "__main__":
    main()
