"""Adds back-translations to a training set (Sennrich et al., 2016): another source for each of its targets.

The model of the other direction that comes along translates the targets, greedily. What it says, where that is not the
real source, makes a new pair. Validation and test set stay what they are.
Run: ``NMT_DATA=… python benchmarks/back_translate.py FOLDER en de``, then train with ``NMT_DATA=FOLDER``.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

import nmt_lib as nmt


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="a new one, for the real data and what is added")
    parser.add_argument("src", help="the language of the sources, such as en")
    parser.add_argument("tgt", help="that of the targets, such as de")
    options = parser.parse_args()
    languages = {"data.src_lang": options.src, "data.tgt_lang": options.tgt}
    real = [(pair.src, pair.tgt) for pair in nmt.load_corpus(nmt.load_config("multi30k", **languages).data).train]
    targets = [tgt for _, tgt in real]
    back = nmt.Translator.load(f"multi30k-{options.tgt}-{options.src}")
    sources = [translation.text for translation in back.translate(targets, beam_size=1)]
    known = set(real)
    new = dict.fromkeys(pair for pair in zip(sources, targets, strict=True) if pair not in known)
    place = options.folder / "multi30k"
    place.mkdir(parents=True)
    for file in (Path(os.environ["NMT_DATA"]) / "multi30k").iterdir():
        shutil.copyfile(file, place / file.name)
    for lang, lines in zip((options.src, options.tgt), zip(*real, *new, strict=True), strict=True):
        (place / f"train.{lang}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(real):,} pairs and {len(new):,} new ones in {place}")


if __name__ == "__main__":
    main()
