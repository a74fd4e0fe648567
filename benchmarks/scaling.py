"""Tokens a second and share of the matrix-multiply peak of a training step, by shape, precision and batch size.

The peak is measured first, on large square matrices; operations are counted by ``torch.utils.flop_counter`` (matrix
products, fused attention included). Run: ``OMP_NUM_THREADS=1 python benchmarks/scaling.py``
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
from common import machine, write_table
from torch.utils.flop_counter import FlopCounterMode

import nmt_lib as nmt
from nmt_lib.schedules import build_optimizer

LENGTH, VOCAB = 32, 10_000  # tokens a sentence, pieces
SHAPES = {"d128 × 4 layers": (128, 4, 4, 256), "d512 × 6 layers": (512, 8, 6, 2048)}
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
    """Floating-point operations a second of one large matrix product."""
    a, b = (torch.randn(size, size, device=DEVICE).to(dtype) for _ in "ab")
    return 2 * size**3 / seconds(lambda: a @ b, repeats)


def step(shape: tuple[int, int, int, int], precision: str, compiled: bool, batch_tokens: int):
    """A training step on one batch of sentences of equal length, and how many tokens it sees."""
    d_model, n_heads, n_layers, d_ff = shape
    keys = {"d_model": d_model, "n_heads": n_heads, "n_layers": n_layers, "d_ff": d_ff, "tying": "three-way"}
    config = nmt.load_config("multi30k", **{f"model.{key}": value for key, value in keys.items()})
    torch.manual_seed(0)
    objective = nmt.Objective(nmt.build_model(config.model, VOCAB, VOCAB), 0.1).to(DEVICE).train()
    if compiled:
        objective.model.encoder.compile()
        objective.model.decoder.compile()
    optimizer = build_optimizer(config.train, objective.parameters())
    rows = torch.randint(4, VOCAB, (batch_tokens // LENGTH, LENGTH)).tolist()
    batch = nmt.make_batch([(row, [2, *row]) for row in rows]).to(DEVICE)

    def update() -> None:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=precision == "bf16"):
            loss = objective(batch) / batch.n_tokens
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return update, batch.n_tokens


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--batch-tokens", type=int, nargs="+", default=[1024, 8192] if DEVICE == "cpu" else [8192, 65536]
    )
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--precisions", nargs="+", default=["fp32"] if DEVICE == "cpu" else ["fp32", "bf16"])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_float32_matmul_precision("high")  # on a GPU fp32 products may use TF32
    size = 1024 if DEVICE == "cpu" else 8192
    dtypes = {"fp32": torch.float32, "bf16": torch.bfloat16}
    peaks = {name: peak(dtypes[name], size, 10) for name in options.precisions}
    rows = []
    for name in options.shapes:
        for precision in options.precisions:
            for compiled in (False, True) if DEVICE == "cuda" else (False,):
                for batch_tokens in options.batch_tokens:
                    update, n_tokens = step(SHAPES[name], precision, compiled, batch_tokens)
                    with FlopCounterMode(display=False) as counter:
                        update()
                    if DEVICE == "cuda":
                        torch.cuda.reset_peak_memory_stats()
                    taken = seconds(update, options.repeats)
                    memory = f"{torch.cuda.max_memory_allocated() / 2**20:,.0f}" if DEVICE == "cuda" else "–"
                    flops = counter.get_total_flops()
                    rows.append([name, precision, "yes" if compiled else "no", batch_tokens, f"{n_tokens / taken:,.0f}",
                                 f"{flops / n_tokens / 1e6:.1f}", f"{100 * flops / taken / peaks[precision]:.0f} %",
                                 memory])  # fmt: skip
                    print(*rows[-1], flush=True)
    shown = ", ".join(f"{name} {value / 1e12:.3g} TFLOP/s" for name, value in peaks.items())
    write_table(
        "scaling",
        "A training step: speed, and share of the measured peak",
        ["shape", "precision", "compiled", "target tokens a batch", "target tokens a second", "MFLOP a target token",
         "share of the peak", "memory, MiB"],
        rows,
        f"Sentences of {LENGTH} tokens on both sides, {VOCAB:,} pieces, three-way tied; forward, backward, fused Adam; "
        f"median of {options.repeats}. Peak, measured on {size} × {size} matrices: {shown}. "
        f"{machine()}. Made by `benchmarks/scaling.py`.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
