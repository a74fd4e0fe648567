"""A crafted checkpoint, its digest right, trains on or is refused; it ends nothing."""

import json
import math
import random
from itertools import product
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load as tensors_of

import nmt_lib as nmt
from tests.lib.forked import exit_codes, start
from tests.lib.small import sealed, small_run

OPTIONS = """data.tokenizer=whitespace model.d_model=8 model.n_heads=2 model.n_layers=1
 model.d_ff=8 train.batch_by=sentences train.validate_every=2 train.checkpoint_every=2
 train.select=average train.max_steps="""
DTYPES = [torch.half, torch.bfloat16, torch.double, torch.int64, torch.uint8]
DTYPES += [torch.bool, torch.complex64, torch.float8_e4m3fn]
SHAPES = [(), (0,), (3,), (1, 8), (8, 1), (1, 8, 8), (10**5,)]
NUMBERS = [0.0, -1.0, 1e38, math.nan, math.inf]
CHANGES = ["missing", *DTYPES, *SHAPES, *NUMBERS]  # of a tensor
TENSORS = """model.output.weight random.cpu random.cuda other optimizer.x
 optimizer.0.step optimizer.0.exp_avg optimizer.3.step optimizer.3.exp_avg
 optimizer.1.exp_avg_sq optimizer.99.exp_avg"""
STATE = """corpus step epoch position loss_sum loss_tokens best_loss best_step
 checkpoints history other"""
ROW = "step epoch lr train_loss valid_loss other"  # of the history
VALUES: list[Any] = [None, -1, 0, 10**9, 10**400, 1.5, math.nan, math.inf, -math.inf]
VALUES += ["", "x", "../best", [], [1], ["x", "../best"], {}, [{}], True, "missing"]
HEADER = "format config src_tokenizer tgt_tokenizer state"
TEXTS = ["", "{}", "[]", "null", "1", "[[1, 2]]", "{", '{"step": 1}', "[" * 10**5]
CASES = [
    *product(["tensor"], TENSORS.split(), CHANGES),
    *product(["state"], STATE.split(), VALUES),
]
CASES += [
    *product(["row"], ROW.split(), VALUES),
    *product(["header"], HEADER.split(), TEXTS),
]
Case = tuple[str, str, Any]


def changed(tensor: torch.Tensor, change: Any) -> torch.Tensor:
    if isinstance(change, torch.dtype):
        return tensor.to(change)
    if isinstance(change, float):
        return torch.full_like(tensor.float(), change)
    return tensor.new_zeros(change)


def crafted(content: bytes, metadata: dict[str, str], case: Case) -> bytes:
    """A checkpoint with one field changed, and the digest that fits."""
    kind, name, change = case
    tensors, metadata = tensors_of(content), dict(metadata)
    if kind == "tensor":
        tensor = tensors.pop(name, torch.zeros(8, 8))
        if change != "missing":
            tensors[name] = changed(tensor, change)
    elif kind == "header":
        metadata[name] = change
    else:
        state = json.loads(metadata["state"])
        fields = state if kind == "state" else state["history"][-1]
        fields[name] = change
        if change == "missing":
            del fields[name]
        metadata["state"] = json.dumps(state)
    return sealed(tensors, metadata)


def resume_from_each(folder: Path, cases: list[Case]) -> None:
    """Resumes a run from each of these; writes what became of them."""
    run = nmt.train(small_run(folder, f"{OPTIONS}4"))
    longer = nmt.load_config(run.config, **{"train.max_steps": 6})
    path = run.path / "checkpoints/step-00000004.safetensors"
    content = path.read_bytes()
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    with open(folder / "results", "w", encoding="utf-8") as results:
        for case in cases:
            (run.path / "model.safetensors").unlink(missing_ok=True)
            path.with_stem("step-00000006").unlink(missing_ok=True)
            path.write_bytes(crafted(content, metadata, case))
            try:
                nmt.train(longer)
                result = "trained on"
            except nmt.CheckpointError as error:
                result = "refused" if "\n" not in str(error) else repr(error)
            except nmt.TrainingError:
                result = "trained on"  # to a loss that is not finite, as any run may
            except Exception as error:
                result = repr(error)
            print(result, str(case)[:80], sep="\t", file=results, flush=True)


def test_two_hundred_crafted_checkpoints(tmp_path: Path) -> None:
    cases = random.Random(0).sample(CASES, 200)
    assert exit_codes(start(resume_from_each, tmp_path, cases)) == [0]
    lines = (tmp_path / "results").read_text(encoding="utf-8").splitlines()
    results = [line.partition("\t")[0] for line in lines]
    assert len(results) == 200 and {*results} == {"trained on", "refused"}, lines
    assert results.count("refused") > 100
