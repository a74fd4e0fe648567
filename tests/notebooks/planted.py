"""Plants mistakes in a copy of the library; the chapters must catch every one.

``make planted`` plants them one at a time and runs the chapter that teaches the subject
under nbval, until the first cell fails: by an assert, or by an output that differs from
the stored one. The library's own source, which chapters show, is not compared: it would
differ even after a harmless change.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from nmt_book.yours.fault import PUZZLES

ROOT = Path(__file__).resolve().parents[2]


class Mistake(NamedTuple):
    function: str  # with its class; empty: outside of functions
    right: str  # what it says
    wrong: str  # what is planted
    chapter: str


def puzzle(function: str, chapter: str) -> Mistake:
    """The mistake that ``book.plant`` has in this function."""
    fault = next(fault for fault in PUZZLES if fault.function == function)
    return Mistake(fault.function, fault.right, fault.wrong, chapter)


MISTAKES = {
    "sos and eos swapped": Mistake(
        "",
        "PAD, UNK, SOS, EOS = 0, 1, 2, 3",
        "PAD, UNK, SOS, EOS = 0, 1, 3, 2",
        "01_tokenization",
    ),
    "positional exponent doubled": Mistake(
        "sinusoids",
        "10000 ** (even / d_model)",
        "10000 ** (2 * even / d_model)",
        "02_positional_encoding",
    ),
    "padding mask inverted": puzzle("padding_mask", "03_masks"),
    "causal mask off by one": puzzle("causal_mask", "03_masks"),
    "no √d_k": Mistake(
        "scaled_dot_product_attention",
        " / math.sqrt(query.size(-1))",
        "",
        "04_attention",
    ),
    "no residual connection": Mistake(
        "Residual.forward",
        "self.norm(x + self.dropout(sublayer(x)))",
        "self.norm(self.dropout(sublayer(x)))",
        "05_encoder",
    ),
    "layers share a cache": puzzle("Decoder.forward", "08_inference"),
    "axes of a heatmap swapped": Mistake(
        "draw_grid",
        "weights.detach().cpu().float().numpy(),",
        "weights.detach().cpu().float().numpy().T,",
        "09_attention_heatmaps",
    ),
}
MORE = {  # with PLANT=all: weekly; chapter 07 trains for a minute before it sees one
    "the text ends without <eos>": Mistake(
        "Tokenizer.encode", "+ [EOS] * eos", "", "01_tokenization"
    ),
    "words by code point alone": Mistake(
        "build_vocab_from_iterator", "(-item[1], item[0])", "item[0]", "01_tokenization"
    ),
    "batches over their budget": Mistake(
        "fill_batches",
        "> batch_tokens:\n            batches.append",
        "> 2 * batch_tokens:\n            batches.append",
        "12_scaling_up",
    ),
    "positions not added": puzzle(
        "PositionalEncoding.forward", "02_positional_encoding"
    ),
    "embeddings not scaled": puzzle("Embedding.forward", "02_positional_encoding"),
    "target mask without padding": Mistake(
        "target_mask", "padding_mask(tgt_in, pad) & ", "", "03_masks"
    ),
    "softmax over the queries": puzzle("scaled_dot_product_attention", "04_attention"),
    "heads cut the wrong way": Mistake(
        "MultiHeadAttention.split_heads",
        "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
        "x.reshape(x.size(0), self.n_heads, x.size(1), -1)",
        "04_attention",
    ),
    "W_o left out": Mistake(
        "MultiHeadAttention.forward",
        "self.W_o(self.join_heads(heads))",
        "self.join_heads(heads)",
        "04_attention",
    ),
    "loss counts pad": Mistake(
        "cross_entropy", "ignore_index=PAD", "ignore_index=-100", "07_training"
    ),
    "no ReLU": Mistake(
        "FeedForward.forward", "F.relu(self.W_1(x))", "self.W_1(x)", "05_encoder"
    ),
    "cross-attention reads the target": Mistake(
        "DecoderLayer.forward",
        "self.cross_attention(h, memory, ",
        "self.cross_attention(h, h, ",
        "06_decoder",
    ),
    "output not tied": Mistake(
        "Transformer._tie", 'if tying != "none":', 'if tying == "never":', "06_decoder"
    ),
    "smoothing forgotten": Mistake(
        "cross_entropy",
        "ignore_index=PAD, label_smoothing=label_smoothing",
        "ignore_index=PAD",
        "07_training",
    ),
    "noam without the width": Mistake(
        "learning_rate", "train.lr * d_model**-0.5 *", "train.lr *", "07_training"
    ),
    "warm-up from the end": Mistake(
        "learning_rate", "train.lr * step / warmup", "train.lr", "07_training"
    ),
    "length penalty multiplied": Mistake(
        "_hypothesis",
        "log_prob / length_penalty(len(ids) + 1",
        "log_prob * length_penalty(len(ids) + 1",
        "08_inference",
    ),
    "the cache forgets the past": Mistake(
        "KVCache.extend",
        "        return self.keys[:, :, :end], self.values[:, :, :end]",
        "        return keys, values",
        "08_inference",
    ),
    "alignment off by one": Mistake(
        "alignment_error_rate",
        ".argmax()) - src_offset",
        ".argmax())",
        "09_attention_heatmaps",
    ),
    "log-probabilities of padding counted": Mistake(
        "sentence_log_probs",
        "log_p.masked_fill(batch.tgt_out == PAD, 0.0).sum(-1)",
        "log_p.sum(-1)",
        "10_evaluation",
    ),
    "contrasts the wrong way round": Mistake(
        "contrastive_accuracy", "sum(a > b for", "sum(a < b for", "10_evaluation"
    ),
    "filled up with <unk>": puzzle("pad_batch", "03_masks"),
    "min_freq one too high": Mistake(
        "vocab", "count >= min_freq", "count > min_freq", "01_tokenization"
    ),
    "positions from 1": Mistake(
        "sinusoids",
        "torch.arange(start, end,",
        "torch.arange(start + 1, end + 1,",
        "02_positional_encoding",
    ),
    "sines, then cosines": Mistake(
        "sinusoids",
        "torch.stack([angle.sin()",
        "torch.cat([angle.sin()",
        "02_positional_encoding",
    ),
    "heads joined without the swap": puzzle(
        "MultiHeadAttention.join_heads", "04_attention"
    ),
    "keys for values": Mistake(
        "MultiHeadAttention.keys_values",
        "self.split_heads(self.W_v(memory))",
        "self.split_heads(self.W_k(memory))",
        "04_attention",
    ),
    "pre-LN for post-LN": Mistake(
        "Residual.__init__",
        'self.pre = config.norm == "pre"',
        'self.pre = config.norm != "pre"',
        "05_encoder",
    ),
    "no final norm": Mistake(
        "make_final_norm",
        "return nn.LayerNorm(config.d_model, bias=config.norm_bias)",
        "return nn.Identity()",
        "05_encoder",
    ),
    "encoder sees padding": Mistake(
        "EncoderLayer.forward",
        "self.self_attention(h, h, src_mask)",
        "self.self_attention(h, h, None)",
        "06_decoder",
    ),
    "cross-attention sees padding": Mistake(
        "DecoderLayer.forward",
        "(h, memory, src_mask, source)",
        "(h, memory, None, source)",
        "06_decoder",
    ),
    "three-way tying forgets the source": Mistake(
        "Transformer._tie",
        'if tying == "three-way":',
        'if tying == "never":',
        "06_decoder",
    ),
    "smoothing over the others only": Mistake(
        "cross_entropy",
        "ignore_index=PAD, label_smoothing=label_smoothing",
        "ignore_index=PAD, label_smoothing="
        "label_smoothing * logits.size(-1) / (logits.size(-1) - 1)",
        "07_training",
    ),
    "every cached position is 0": Mistake(
        "Transformer.decode",
        "caches[0].own.length if caches else 0",
        "0",
        "08_inference",
    ),
    "penalty without <eos>": Mistake(
        "_hypothesis",
        "length_penalty(len(ids) + 1, alpha)",
        "length_penalty(len(ids), alpha)",
        "08_inference",
    ),
    "links the wrong way round": Mistake(
        "alignment_error_rate",
        "(int(weights[t].argmax()) - src_offset, t)",
        "(t, int(weights[t].argmax()) - src_offset)",
        "09_attention_heatmaps",
    ),
    "target not shifted": puzzle("make_batch", "07_training"),
    "hypotheses not sorted": puzzle("beam_search", "08_inference"),
    "the cache does not follow the beam": Mistake(
        "Scorer.select",
        "            cache.own.select(rows)\n            if sources:\n",
        "            if sources:\n                cache.own.select(rows)\n",
        "08_inference",
    ),
    "rows named by the word read": puzzle(
        "Translator._translation", "09_attention_heatmaps"
    ),
    "BLEU lowercased": Mistake(
        "evaluate",
        "BLEU(tokenize=tokenize, ",
        "BLEU(lowercase=True, tokenize=tokenize, ",
        "10_evaluation",
    ),
    "chrF counts words too": Mistake(
        "evaluate", " CHRF()", " CHRF(word_order=2)", "10_evaluation"
    ),
}
PLANTED = MISTAKES | MORE if os.environ.get("PLANT") == "all" else MISTAKES
WITHOUT_SOURCES = r"""[shown source]
regex: <div class="highlight"[\s\S]*
replace: SOURCE
"""
NBVAL = """
    -x -qq --tb=no --no-summary -p no:cacheprovider
    -p tests.notebooks.chapters -p tests.notebooks.kernels
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


def texts(source: str, function: str) -> list[str]:
    """The text of each function of this name in a file; of the file, without one."""
    tree: list[tuple[str, ast.AST]] = [("", ast.parse(source))]
    for name, node in tree:  # it grows
        if isinstance(node, ast.Module | ast.ClassDef):
            tree += [
                (f"{name}.{part.name}".lstrip("."), part)
                for part in node.body
                if isinstance(part, ast.FunctionDef | ast.ClassDef)
            ]
    nodes = [node for name, node in tree[1:] if name == function]
    return [ast.get_source_segment(source, node) or "" for node in nodes] or (
        [] if function else [source]
    )


def plant(mistake: Mistake, library: Path) -> None:
    """Writes the mistake into the one file that has its function and its text."""
    function, right, wrong, _ = mistake
    files = []
    for path in sorted(library.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if right in "".join(texts(source, function)) and path.name != "one_page.py":
            files.append((path, source))
    assert len(files) == 1, f"{function or 'text'} has changed: plant it elsewhere"
    path, source = files[0]
    for text in texts(source, function):
        source = source.replace(text, text.replace(right, wrong))
    path.write_text(source, encoding="utf-8")


@pytest.mark.parametrize("name", PLANTED)
def test_a_chapter_catches(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = PLANTED[name]
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "nmt_lib", tmp_path / "nmt_lib", ignore=ignore)
    plant(mistake, tmp_path / "nmt_lib")
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
