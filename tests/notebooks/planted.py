"""Plants mistakes in a copy of the library; the chapters must catch every one.

``make planted`` plants them one at a time and runs the chapter that teaches the subject
under nbval, until the first cell fails: by an assert, or by an output that differs from
the stored one. The library's own source, which chapters show, is not compared: it would
differ even after a harmless change.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mistake:
    file: str  # of nmt_lib
    right: str  # what it says
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
        "decoder.py",
        "caches[i]",
        "caches[0]",
        "08_inference",
    ),
    "axes of a heatmap swapped": Mistake(
        "pictures/plotting.py",
        "weights.detach().cpu().float().numpy(),",
        "weights.detach().cpu().float().numpy().T,",
        "09_attention_heatmaps",
    ),
}
MORE = {  # with PLANT=all
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
        "03_masks",
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
        "self.cross_attention(h, memory, ",
        "self.cross_attention(h, h, ",
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
        "attention.py",
        "        return self.keys[:, :, :end], self.values[:, :, :end]",
        "        return keys, values",
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
        "batching.py", "[PAD] * (width", "[1] * (width", "03_masks"
    ),
    "min_freq one too high": Mistake(
        "vocab.py", "count >= min_freq", "count > min_freq", "01_tokenization"
    ),
    "positions from 1": Mistake(
        "embeddings.py",
        "torch.arange(start, end,",
        "torch.arange(start + 1, end + 1,",
        "02_positional_encoding",
    ),
    "sines, then cosines": Mistake(
        "embeddings.py",
        "torch.stack([angle.sin()",
        "torch.cat([angle.sin()",
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
        "return nn.LayerNorm(config.d_model, bias=config.norm_bias)",
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
        "(h, memory, src_mask, source)",
        "(h, memory, None, source)",
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
        "ignore_index=PAD, label_smoothing="
        "label_smoothing * logits.size(-1) / (logits.size(-1) - 1)",
        "07_training",
    ),
    "every cached position is 0": Mistake(
        "transformer.py",
        "caches[0].own.length if caches else 0",
        "0",
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
        "batching.py",
        "target[1:] for _, target",
        "target[:-1] for _, target",
        "07_training",
    ),
    "hypotheses not sorted": Mistake(
        "decoding.py",
        "[sorted(hypotheses, key=lambda h: -h.score)[:K] for",
        "[hypotheses[:K] for",
        "08_inference",
    ),
    "the cache does not follow the beam": Mistake(
        "decoding.py",
        "            cache.own.select(rows)\n            if sources:\n",
        "            if sources:\n                cache.own.select(rows)\n",
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
NBVAL = """
    -x -qq --tb=no --no-summary -p no:cacheprovider -p tests.notebooks.chapters
    --nbval --nbval-kernel-startup-timeout=300 --nbval-cell-timeout=900
"""


class FirstFailure:
    """Notes which test of an nbval run fails first, and what it says."""

    name = said = ""
    source_only = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.name:
            self.name = report.location[2].rpartition("::")[2]
            plain = re.sub(r"\x1b\[[0-9;]*m", "", report.longreprtext)
            errors = r"^(?:E? *)(\w*(?:Error|Exception)\b.*|.*mismatch.*)$"
            lines = re.findall(errors, plain, re.MULTILINE)
            self.said = lines[-1].strip() if lines else "another output"
            shown = "show_source(" in plain
            self.source_only = shown and "mismatch 'stdout'" not in plain


@pytest.mark.parametrize("name", PLANTED)
def test_a_chapter_catches(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = PLANTED[name]
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "nmt_lib", tmp_path / "nmt_lib", ignore=ignore)
    file = tmp_path / "nmt_lib" / mistake.file
    source = file.read_text(encoding="utf-8")
    assert mistake.right in source, f"{mistake.file} has changed: plant it elsewhere"
    file.write_text(source.replace(mistake.right, mistake.wrong), encoding="utf-8")
    (tmp_path / "sanitize.cfg").write_text(WITHOUT_SOURCES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sanitize = f"--nbval-sanitize-with={tmp_path / 'sanitize.cfg'}"
    chapter = str(ROOT / f"notebooks/{mistake.chapter}.ipynb")
    failure = FirstFailure()
    status = pytest.main([*NBVAL.split(), sanitize, chapter], plugins=[failure])
    # pytest -rP shows this.
    print(f"{name}: {mistake.chapter[:2]}, {failure.name}: {failure.said[:110]}")
    assert status == pytest.ExitCode.TESTS_FAILED, "nothing failed"
    assert not failure.source_only, "only the source that it shows differs"
    # Cell 0 has the parameters, and cell 1 imports the library.
    broken = "the copy of the library cannot be imported"
    assert failure.name not in ("Cell 0", "Cell 1"), broken
