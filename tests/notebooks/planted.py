"""Plants mistakes in a copy of the library, one at a time; the chapters' own nbval run must catch every one.

``make planted`` runs it. Each mistake gets the one chapter that teaches the thing, and the run stops at the first cell
that fails: an assert of the chapter, or an output that differs from the stored one. The library's own source, which the
chapters show, is left out of that comparison: it differs in any case, and would catch even a mistake that does nothing.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mistake:
    file: str  # of nmt_lib
    right: str  # what stands there
    wrong: str  # what is planted
    chapter: str


MISTAKES = {
    "sos and eos swapped": Mistake(
        "special.py",
        "PAD, UNK, SOS, EOS = 0, 1, 2, 3",
        "PAD, UNK, SOS, EOS = 0, 1, 3, 2",
        "01_tokenization",
    ),
    "positional exponent doubled": Mistake(
        "embeddings.py",
        "10000 ** (even / d_model)",
        "10000 ** (2 * even / d_model)",
        "02_positional_encoding",
    ),
    "padding mask inverted": Mistake(
        "masks.py", "(ids != pad)", "(ids == pad)", "03_masks"
    ),
    "causal mask off by one": Mistake(
        "masks.py", ".tril()[None, None]", ".tril(1)[None, None]", "03_masks"
    ),
    "no √d_k": Mistake(
        "attention.py", " / math.sqrt(query.size(-1))", "", "04_attention"
    ),
    "loss counts pad": Mistake(
        "losses.py", "ignore_index=PAD", "ignore_index=-100", "07_training"
    ),
    "layers share a cache": Mistake(
        "decoder.py", "cache = caches[i] if", "cache = caches[0] if", "08_inference"
    ),
    "axes of a heatmap swapped": Mistake(
        "pictures/plotting.py",
        "axis.imshow(weights.float().numpy(),",
        "axis.imshow(weights.float().numpy().T,",
        "09_attention_heatmaps",
    ),
}
MORE = {  # planted too with PLANT=all: about a quarter of an hour
    "the text ends without <eos>": Mistake(
        "tokenizers.py", "+ [EOS] * eos", "", "01_tokenization"
    ),
    "words by code point alone": Mistake(
        "vocab.py", "(-item[1], item[0])", "item[0]", "01_tokenization"
    ),
    "batches over their budget": Mistake(
        "batching.py",
        "> batch_tokens:\n            batches.append",
        "> 2 * batch_tokens:\n            batches.append",
        "01_tokenization",
    ),
    "positions not added": Mistake(
        "embeddings.py",
        "return x + self.table[start:end]",
        "return x",
        "02_positional_encoding",
    ),
    "embeddings not scaled": Mistake(
        "embeddings.py",
        "self.lookup(ids) * self.factor",
        "self.lookup(ids)",
        "02_positional_encoding",
    ),
    "target mask without padding": Mistake(
        "masks.py", "padding_mask(tgt_in, pad) & ", "", "03_masks"
    ),
    "softmax over the queries": Mistake(
        "attention.py",
        "scores.softmax(dim=-1)",
        "scores.softmax(dim=-2)",
        "04_attention",
    ),
    "heads cut the wrong way": Mistake(
        "attention.py",
        "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
        "x.reshape(x.size(0), self.n_heads, x.size(1), -1)",
        "04_attention",
    ),
    "W_o left out": Mistake(
        "attention.py",
        "self.W_o(self.join_heads(heads))",
        "self.join_heads(heads)",
        "04_attention",
    ),
    "no residual connection": Mistake(
        "layers.py",
        "self.norm(x + self.dropout(sublayer(x)))",
        "self.norm(self.dropout(sublayer(x)))",
        "05_encoder",
    ),
    "no ReLU": Mistake("layers.py", "F.relu(self.W_1(x))", "self.W_1(x)", "05_encoder"),
    "cross-attention reads the target": Mistake(
        "decoder.py",
        "self.cross_attention.keys_values(memory)",
        "self.cross_attention.keys_values(h)",
        "06_decoder",
    ),
    "output not tied": Mistake(
        "transformer.py", 'if tying != "none":', 'if tying == "never":', "06_decoder"
    ),
    "smoothing forgotten": Mistake(
        "losses.py",
        "ignore_index=PAD, label_smoothing=label_smoothing",
        "ignore_index=PAD",
        "07_training",
    ),
    "noam without the width": Mistake(
        "schedules.py", "train.lr * d_model**-0.5 *", "train.lr *", "07_training"
    ),
    "warm-up from the end": Mistake(
        "schedules.py", "train.lr * step / warmup", "train.lr", "07_training"
    ),
    "length penalty multiplied": Mistake(
        "decoding.py",
        "log_prob / length_penalty(len(ids) + 1",
        "log_prob * length_penalty(len(ids) + 1",
        "08_inference",
    ),
    "the cache forgets the past": Mistake(
        "decoder.py",
        "self.own = (keys, values)",
        "self.own = (keys[:, :, -1:], values[:, :, -1:])",
        "08_inference",
    ),
    "alignment off by one": Mistake(
        "evaluation.py",
        ".argmax()) - src_offset",
        ".argmax())",
        "09_attention_heatmaps",
    ),
    "log-probabilities of padding counted": Mistake(
        "evaluation.py",
        "said.masked_fill(batch.tgt_out == PAD, 0.0).sum(-1)",
        "said.sum(-1)",
        "10_evaluation",
    ),
    "contrasts the wrong way round": Mistake(
        "evaluation.py", "sum(a > b for", "sum(a < b for", "10_evaluation"
    ),
    "filled up with <unk>": Mistake(
        "batching.py", "[PAD] * (width", "[1] * (width", "01_tokenization"
    ),
    "min_freq one too high": Mistake(
        "vocab.py", "count >= min_freq", "count > min_freq", "01_tokenization"
    ),
    "positions from 1": Mistake(
        "embeddings.py",
        "torch.arange(start, start + n_positions",
        "torch.arange(start + 1, start + 1 + n_positions",
        "02_positional_encoding",
    ),
    "sines, then cosines": Mistake(
        "embeddings.py",
        "torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)",
        "torch.cat([angle.sin(), angle.cos()], dim=-1)",
        "02_positional_encoding",
    ),
    "heads joined without the swap": Mistake(
        "attention.py",
        "heads.transpose(1, 2).flatten(2)",
        "heads.reshape(heads.size(0), heads.size(2), -1)",
        "04_attention",
    ),
    "keys for values": Mistake(
        "attention.py",
        "self.split_heads(self.W_v(memory))",
        "self.split_heads(self.W_k(memory))",
        "04_attention",
    ),
    "pre-LN for post-LN": Mistake(
        "layers.py",
        'self.pre = config.norm == "pre"',
        'self.pre = config.norm != "pre"',
        "05_encoder",
    ),
    "no final norm": Mistake(
        "layers.py",
        "return make_norm(config) if wanted else nn.Identity()",
        "return nn.Identity()",
        "05_encoder",
    ),
    "encoder sees padding": Mistake(
        "encoder.py",
        "self.self_attention(h, h, src_mask)",
        "self.self_attention(h, h, None)",
        "05_encoder",
    ),
    "cross-attention sees padding": Mistake(
        "decoder.py",
        "attend(h, keys, values, src_mask)",
        "attend(h, keys, values, None)",
        "06_decoder",
    ),
    "three-way tying forgets the source": Mistake(
        "transformer.py",
        'if tying == "three-way":',
        'if tying == "never":',
        "06_decoder",
    ),
    "smoothing over the others only": Mistake(
        "losses.py",
        "ignore_index=PAD, label_smoothing=label_smoothing",
        "ignore_index=PAD, label_smoothing=label_smoothing * logits.size(-1) / (logits.size(-1) - 1)",
        "07_training",
    ),
    "every cached position is 0": Mistake(
        "transformer.py",
        "start=len(caches[0]) if caches else 0",
        "start=0",
        "08_inference",
    ),
    "penalty without <eos>": Mistake(
        "decoding.py",
        "length_penalty(len(ids) + 1, alpha)",
        "length_penalty(len(ids), alpha)",
        "08_inference",
    ),
    "links the wrong way round": Mistake(
        "evaluation.py",
        "(int(weights[t].argmax()) - src_offset, t)",
        "(t, int(weights[t].argmax()) - src_offset)",
        "09_attention_heatmaps",
    ),
    "target not shifted": Mistake(
        "batching.py", "target[1:] for target", "target[:-1] for target", "07_training"
    ),
    "hypotheses not sorted": Mistake(
        "decoding.py",
        "[sorted(hypotheses, key=lambda h: -h.score)[:K] for",
        "[hypotheses[:K] for",
        "08_inference",
    ),
    "the cache does not follow the beam": Mistake(
        "decoder.py",
        "if self.own is not None:\n            self.own = (self.own[0][rows]",
        "if self.own is not None and sources is not None:\n            self.own = (self.own[0][rows]",
        "08_inference",
    ),
    "rows named by the word read": Mistake(
        "translator.py",
        "lookup_tokens([*best.ids, EOS])",
        "lookup_tokens([2, *best.ids])",
        "09_attention_heatmaps",
    ),
    "BLEU lowercased": Mistake(
        "evaluation.py",
        "BLEU(tokenize=tokenize, ",
        "BLEU(lowercase=True, tokenize=tokenize, ",
        "10_evaluation",
    ),
    "chrF counts words too": Mistake(
        "evaluation.py", " CHRF()", " CHRF(word_order=2)", "10_evaluation"
    ),
}
PLANTED = MISTAKES | MORE if os.environ.get("PLANT") == "all" else MISTAKES


WITHOUT_SOURCES = r"""[shown source]
regex: <div class="highlight"[\s\S]*
replace: SOURCE
"""


class FirstFailure:
    """Listens to a run of nbval: the number of the cell that fails first (−1: none), and what it says."""

    cell, said = -1, ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.cell < 0:
            self.cell = int(report.location[2].rpartition(" ")[2])
            plain = re.sub(r"\x1b\[[0-9;]*m", "", report.longreprtext)
            lines = re.findall(
                r"^(?:E? *)(\w*(?:Error|Exception)\b.*|.*mismatch.*)$",
                plain,
                re.MULTILINE,
            )
            self.said = lines[-1].strip() if lines else "another output"


def first_failure(chapter: str, library: Path) -> tuple[int, str]:
    """Runs a chapter under nbval with a given library."""
    (library / "sanitize.cfg").write_text(WITHOUT_SOURCES)
    listener = FirstFailure()
    quietly = [
        "-x",
        "-qq",
        "--tb=no",
        "--no-summary",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.chapters",
    ]
    nbval = [
        "--nbval",
        "--nbval-kernel-startup-timeout=300",
        "--nbval-cell-timeout=900",
        f"--nbval-sanitize-with={library / 'sanitize.cfg'}",
    ]
    with mock.patch.dict(os.environ, PYTHONPATH=str(library)):
        status = pytest.main(
            [*quietly, *nbval, str(ROOT / f"notebooks/{chapter}.ipynb")],
            plugins=[listener],
        )
    assert status == (
        pytest.ExitCode.OK if listener.cell < 0 else pytest.ExitCode.TESTS_FAILED
    ), "nbval itself failed"
    return listener.cell, listener.said


@pytest.mark.parametrize("name", PLANTED)
def test_a_chapter_catches(name: str, tmp_path: Path) -> None:
    mistake = PLANTED[name]
    shutil.copytree(
        ROOT / "nmt_lib",
        tmp_path / "nmt_lib",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    file = tmp_path / "nmt_lib" / mistake.file
    source = file.read_text(encoding="utf-8")
    assert source.count(mistake.right) >= 1, (
        f"{mistake.file} no longer holds {mistake.right!r}: plant it anew"
    )
    file.write_text(source.replace(mistake.right, mistake.wrong), encoding="utf-8")
    cell, said = first_failure(mistake.chapter, tmp_path)
    print(
        f"{name}: chapter {mistake.chapter[:2]}, code cell {cell}: {said[:110]}"
    )  # pytest -rP shows it
    assert cell > 1, (
        "nothing failed"
        if cell < 0
        else "the set-up cell failed: the copy of the library is broken"
    )


def test_a_copy_without_a_mistake_passes(tmp_path: Path) -> None:
    """The control: what fails above fails because of the mistake. A comment changes a shown source only."""
    shutil.copytree(
        ROOT / "nmt_lib",
        tmp_path / "nmt_lib",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    file = tmp_path / "nmt_lib" / "masks.py"
    right = "    return (ids != pad)"
    assert right in file.read_text(encoding="utf-8")
    file.write_text(
        file.read_text(encoding="utf-8").replace(right, "    # harmless\n" + right),
        encoding="utf-8",
    )
    assert first_failure("03_masks", tmp_path) == (-1, "")
