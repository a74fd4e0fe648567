"""Executes the chapters with models that are not the tiny one: ``make weekly``.

The published corpus is replaced by sentences of the grammar under the published file
names, and its model by a small one that has hardly learnt anything: no chapter may
stop, or take minutes, because a translation is bad or never ends. Then the tiny
model's chapters from English to German.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nmt_lib as nmt
from nmt_lib.data.published import FILES

BAD = (
    "train.max_steps=30 train.warmup=10 train.checkpoint_every=5 "
    "train.validate_every=10 data.vocab_size=400 model.d_model=64 model.n_layers=2 "
    "model.d_ff=128"
)
RUNS = {"multi30k": BAD, "tiny": "data.tgt_lang=de"}


def write_corpus(folder: Path) -> None:
    """Sentences of the grammar in the files that Multi30k is published in."""
    folder.mkdir()
    triples = {}
    for lang in ("de", "fr"):
        config = nmt.load_config("tiny", **{"data.tgt_lang": lang})
        corpus = nmt.load_corpus(config.data)
        for split, name in FILES["multi30k"].items():
            pairs = getattr(corpus, split)
            triples[f"{name}.en"] = [pair.src for pair in pairs]
            triples[f"{name}.{lang}"] = [pair.tgt for pair in pairs]
    for name, lines in triples.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        write_corpus(Path(made, "multi30k"))
        for config, changes in RUNS.items():
            env = os.environ | {"NMT_DATA": made, "NMT_RUNS": str(Path(made, config))}
            arguments = ["--config", config, "--set", changes]
            arguments += ["--out", f"build/any-{config}", *sys.argv[1:]]
            command = [sys.executable, "-m", "tools.run", *arguments]
            failed += subprocess.run(command, env=env).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
