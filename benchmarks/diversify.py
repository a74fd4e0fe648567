"""Adds translations to a training set: other sources for its targets, other targets for its sources.

Back-translation (Sennrich et al., 2016): models of the other direction translate the targets. Data diversification
(Nguyen et al., 2020, https://arxiv.org/abs/1911.01986): models of this direction translate the sources, too. All of it
greedily; what is new makes new pairs. Validation and test set stay what they are.
Run: ``NMT_DATA=… python benchmarks/diversify.py FOLDER en de``, then train with ``NMT_DATA=FOLDER``.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

import nmt_lib as nmt


def translate(name: str, texts: list[str]) -> list[str]:
    """Greedily, by the translator of this name."""
    return [
        translation.text
        for translation in nmt.Translator.load(name).translate(texts, beam_size=1)
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "folder", type=Path, help="a new one, for the real data and what is added"
    )
    parser.add_argument("src", help="the language of the sources, such as en")
    parser.add_argument("tgt", help="that of the targets, such as de")
    parser.add_argument(
        "--back",
        nargs="*",
        metavar="TRANSLATOR",
        help="default: the one that comes along",
    )
    parser.add_argument("--forward", nargs="*", default=[], metavar="TRANSLATOR")
    options = parser.parse_args()
    languages = {"data.src_lang": options.src, "data.tgt_lang": options.tgt}
    real = [
        (pair.src, pair.tgt)
        for pair in nmt.load_corpus(nmt.load_config("multi30k", **languages).data).train
    ]
    sources, targets = map(list, zip(*real, strict=True))
    found: list[tuple[str, str]] = []
    for name in (
        [f"multi30k-{options.tgt}-{options.src}"]
        if options.back is None
        else options.back
    ):
        found += zip(translate(name, targets), targets, strict=True)
    for name in options.forward:
        found += zip(sources, translate(name, sources), strict=True)
    known = set(real)
    new = [pair for pair in dict.fromkeys(found) if pair not in known]
    place = options.folder / "multi30k"
    place.mkdir(parents=True)
    for file in (Path(os.environ["NMT_DATA"]) / "multi30k").iterdir():
        shutil.copyfile(file, place / file.name)
    for lang, lines in zip(
        (options.src, options.tgt), zip(*real, *new, strict=True), strict=True
    ):
        (place / f"train.{lang}").write_text(
            "".join(f"{line}\n" for line in lines), encoding="utf-8"
        )
    print(f"{len(real):,} pairs and {len(new):,} new ones in {place}")


if __name__ == "__main__":
    main()
