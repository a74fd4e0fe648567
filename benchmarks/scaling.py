"""Tokens a second and share of the matrix-multiply peak of a training step, by shape, precision and batch size.

The peak is measured on large square matrices; operations are counted by ``torch.utils.flop_counter``, with attention
written out, since it does not see the fused one of a CPU.
Run: ``OMP_NUM_THREADS=1 python benchmarks/scaling.py``
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time

import torch
from common import machine, write_table
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import nmt_lib as nmt
from nmt_lib.schedules import build_optimizer

LENGTH, VOCAB = 32, 10_000  # tokens a sentence, pieces
SHAPES = {"d128 × 4 layers": (128, 4, 4, 256), "d512 × 6 layers": (512, 8, 6, 2048)}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def seconds(call, repeats: int) -> float:
    """The median time of a call, after one untimed."""
    times = []
    for turn in range(repeats + 1):
        start = time.perf_counter()
        call()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        if turn:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak(dtype: torch.dtype, size: int, repeats: int) -> float:
    """Floating-point operations a second of a large matrix product, the fastest of some."""
    a, b = (torch.randn(size, size, device=DEVICE).to(dtype) for _ in "ab")
    return max(2 * size**3 / seconds(lambda: a @ b, 1) for _ in range(repeats))


def step(
    shape: tuple[int, int, int, int], precision: str, compiled: bool, batch_tokens: int
):
    """A training step on one batch of sentences of equal length, how many tokens it sees, and its operations."""
    d_model, n_heads, n_layers, d_ff = shape
    keys = {
        "d_model": d_model,
        "n_heads": n_heads,
        "n_layers": n_layers,
        "d_ff": d_ff,
        "tying": "three-way",
    }
    config = nmt.load_config(
        "multi30k", **{f"model.{key}": value for key, value in keys.items()}
    )
    torch.manual_seed(0)
    objective = (
        nmt.Objective(nmt.build_model(config.model, VOCAB, VOCAB), 0.1)
        .to(DEVICE)
        .train()
    )
    optimizer = build_optimizer(config.train, objective.parameters())
    rows = torch.randint(4, VOCAB, (batch_tokens // LENGTH, LENGTH)).tolist()
    batch = nmt.make_batch([(row, [2, *row]) for row in rows]).to(DEVICE)

    def update() -> None:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=precision == "bf16"):
            loss = objective(batch) / batch.n_tokens
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        update()
    if compiled:
        objective.model.encoder.compile()
        objective.model.decoder.compile()
    return update, batch.n_tokens, counter.get_total_flops()


def measure(
    name: str,
    precision: str,
    compiled: bool,
    batch_tokens: int,
    repeats: int,
    size: int,
) -> list[object]:
    """One row of the table; its last cell is the peak."""
    torch.compiler.reset()  # each row compiles for its own shapes
    update, n_tokens, flops = step(SHAPES[name], precision, compiled, batch_tokens)
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
    taken = seconds(update, repeats)
    memory = (
        f"{torch.cuda.max_memory_allocated() / 2**20:,.0f}" if DEVICE == "cuda" else "–"
    )
    top = peak(
        DTYPES[precision], size, 10
    )  # here and now: a shared machine is not always as fast
    return [
        f"{n_tokens / taken:,.0f}",
        f"{flops / n_tokens / 1e6:.1f}",
        f"{100 * flops / taken / top:.0f} %",
        memory,
        f"{top / 1e12:.3g}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    tokens, precisions = (
        ([512, 2048], ["fp32"])
        if DEVICE == "cpu"
        else ([8192, 65536], ["fp32", "bf16"])
    )
    parser.add_argument("--batch-tokens", type=int, nargs="+", default=tokens)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--precisions", nargs="+", choices=DTYPES, default=precisions)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_float32_matmul_precision(
        "high"
    )  # on a GPU fp32 products use TF32, as the note says
    size, rows = 1024 if DEVICE == "cpu" else 8192, []
    for name, precision in itertools.product(options.shapes, options.precisions):
        for compiled in (
            (False, True) if (DEVICE, precision) == ("cuda", "bf16") else (False,)
        ):
            for batch_tokens in options.batch_tokens:
                try:
                    cells = measure(
                        name, precision, compiled, batch_tokens, options.repeats, size
                    )
                except torch.cuda.OutOfMemoryError:
                    cells = ["out of memory", "", "", "", ""]
                rows.append(
                    [name, precision, "yes" if compiled else "no", batch_tokens, *cells]
                )
                write(
                    rows, size, options.repeats
                )  # what is measured stays, whatever comes after it


def write(rows: list[list[object]], size: int, repeats: int) -> None:
    write_table(
        "scaling",
        "A training step: speed, and share of the measured peak",
        [
            "shape",
            "precision",
            "compiled",
            "target tokens a batch",
            "target tokens a second",
            "MFLOP a target token",
            "share of the peak",
            "memory, MiB",
            "peak, TFLOP/s",
        ],
        rows,
        f"Sentences of {LENGTH} tokens on both sides, {VOCAB:,} pieces, three-way tied; forward, backward, fused Adam; "
        f"median of {repeats}. Peak: the fastest of ten products of {size} × {size} matrices, right after the row was "
        f"measured. On a GPU, products of fp32 are in TF32. {machine(gpu=True)}.",
    )


if __name__ == "__main__":
    main()
