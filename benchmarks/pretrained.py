"""Puts the model of a run into the package: ``nmt_lib/pretrained/NAME``, weights in fp16, with a card.

The run need not be finished: its last checkpoints are averaged, and the card says after how many updates. The test set
is read once. Where a run was cut off, read, and trained further after all, ``--test-again`` reads it a second time, and
the card keeps what was read before.
Run: ``NMT_DATA=… python benchmarks/pretrained.py runs/multi30k multi30k-en-de --average 10 [--test]``
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from common import command, machine
from multi30k import score

import nmt_lib as nmt
from nmt_lib.runs import checkpoints
from nmt_lib.runs.files import PLACE, write_text
from nmt_lib.runs.folder import fixed_keys, load_tokenizers, read_config
from nmt_lib.translator import PRETRAINED

NAMES = {"en": "English", "de": "German", "fr": "French"}
CARD = """<!-- xxh3_128: {digest} -->
# {name}

A Transformer that translates {src} captions of pictures into {tgt}: `nmt_lib.Translator.load("{name}")`.

| | |
|---|---|
| model | {layers} + {layers} layers, d_model {d_model}, d_ff {d_ff}, {heads} heads, {norm}-LN |
| size | {parameters} parameters in fp16 |
| text | byte-pair encoding, {pieces} pieces for both languages |
| trained on | Multi30k, {pairs} pairs; {first}{updates} updates {how}{cut} |
| config | `multi30k`{changes} |
| weights | the mean of the last {average} checkpoints, {every} updates apart{mixed} |
| made by | `{command}`, after {updates} updates |
| measured on | {machine} |

| Multi30k | BLEU, cased | chrF | BLEU, lower-cased and tokenised | BLEU, words, greedy |
|---|---|---|---|---|
{rows}

Beam {beam}, length penalty {alpha}; the last BLEU greedy. Cased: {signature}. How the others are counted stands in
`benchmarks/multi30k.py`. {validation}

**Data.** Multi30k (Elliott et al., 2016, [arXiv:1605.00459](https://arxiv.org/abs/1605.00459)): descriptions of the
pictures of Flickr30k (Young et al., 2014) in English, with translations. The text is not part of this package. Both
collections were published for research: read their terms before you use the model for anything else.

**Limits.** It knows short descriptions of everyday scenes and nothing else: what people write in letters, in the news
or in questions comes out wrong, often fluently. It has learnt what captions take for granted about people, their sexes
and their work. Not for use where an error harms.
"""


def average(
    run: Path, files: Sequence[Path], begun: str = "", share: float = 0.0
) -> nmt.Translator:
    """The translator whose weights are the mean of these checkpoints; it searches as the config multi30k says now.

    Args:
        begun: the translator with whose weights the run began.
        share: of those weights in the result (Wortsman et al., 2022, https://arxiv.org/abs/2109.01903).
    """
    config = read_config(run)
    tokenizers = load_tokenizers(run, config.data)
    model = nmt.build_model(config.model, *map(len, tokenizers))
    weights = checkpoints.average_weights(files)
    if share:
        old = checkpoints.model_state(nmt.Translator.load(begun, device="cpu").model)
        weights = {
            name: share * old[name] + (1 - share) * weight
            for name, weight in weights.items()
        }
    checkpoints.load_weights(model, weights)
    config = config.model_copy(update={"decode": nmt.load_config("multi30k").decode})
    return nmt.Translator(model, *tokenizers, config)


def changes(config: nmt.Config) -> str:
    """What differs from the config multi30k, as the card says it."""
    usual = fixed_keys(nmt.load_config("multi30k"))
    found = [
        f"{key}={value}"
        for key, value in fixed_keys(config).items()
        if usual[key] != value
    ]
    return f" with `{' '.join(found)}`" if found else ""


def updates_of(file: Path) -> int:
    """After how many updates a checkpoint was written: step-00003540.safetensors → 3540."""
    return int(file.stem.removeprefix("step-"))


def readings(card: Path) -> list[str]:
    """The rows of an existing card that hold readings of the test set, each with its number of updates, all rounds'."""
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    trained = "".join(re.findall(r"^\| trained on .*", text, flags=re.MULTILINE))
    updates = sum(
        int(number.replace(",", ""))
        for number in re.findall(r"([\d,]+) updates", trained)
    )
    rows = re.findall(r"^\| test2016.*", text, flags=re.MULTILINE)
    return [
        row.replace("| test2016 |", f"| test2016, read after {updates:,} updates |")
        for row in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument("name", help="such as multi30k-en-de")
    parser.add_argument("--average", type=int, default=10, help="checkpoints")
    parser.add_argument(
        "--test",
        action="store_true",
        help="read the test set: once, when everything is chosen",
    )
    parser.add_argument(
        "--test-again",
        action="store_true",
        help="although it was read before; the card says so",
    )
    parser.add_argument(
        "--first",
        default="",
        help="of a run that benchmarks/go_on.py began: what came before it",
    )
    parser.add_argument(
        "--how",
        default="of the config `multi30k`",
        help="the updates of this run were done",
    )
    parser.add_argument(
        "--begun", default="", help="of such a run: the translator that it began with"
    )
    parser.add_argument(
        "--share",
        type=float,
        default=0.0,
        help="of the weights that it began with in the result",
    )
    options = parser.parse_args()
    files = checkpoints.checkpoint_files(options.run / "checkpoints")[
        -options.average :
    ]
    place = PRETRAINED / options.name / "README.md"
    earlier = readings(place)
    if options.test and earlier:
        sys.exit(f"the test set has been read, once and for all: {place}")
    if not files:
        sys.exit(f"no checkpoints in {options.run}: give the folder of a run")
    updates, new = updates_of(files[-1]), Path(tempfile.mkdtemp())
    average(options.run, files, options.begun, options.share).save(new, half=True)
    shipped = nmt.Translator.load(
        new, device="cpu"
    )  # what readers get is what is measured
    config, rows, test = shipped.config, [], options.test or options.test_again
    for split, label in {"valid": "validation", "test": "test2016"}.items():
        if split == "valid" or test:
            found = score(config, shipped, split)
            scores = [
                f"{found[key]:.2f}" for key in ("cased", "chrF", "lower", "greedy")
            ]
            rows.append(f"| {' | '.join([label, *scores])} |")
    rows += earlier
    model, train, share = config.model, config.train, options.share
    mixed = (
        f" (share {1 - share:g}), and those it began with ({share:g})" if share else ""
    )
    card = CARD.format(
        digest=PLACE,
        name=options.name,
        src=NAMES[config.data.src_lang],
        tgt=NAMES[config.data.tgt_lang],
        layers=model.n_layers,
        d_model=model.d_model,
        d_ff=model.d_ff,
        heads=model.n_heads,
        norm=model.norm,
        pieces=len(shipped.src_tokenizer),
        parameters=f"{nmt.count_parameters(shipped.model):,}",
        updates=f"{updates:,}",
        changes=changes(config),
        first=options.first and f"{options.first}, then ",
        how=options.how,
        mixed=mixed,
        pairs=f"{len(nmt.load_corpus(config.data).train):,}",
        average=len(files),
        every=train.checkpoint_every,
        cut=f", which has {train.max_steps:,}" if updates < train.max_steps else "",
        rows="\n".join(rows),
        beam=config.decode.beam_size,
        alpha=config.decode.length_penalty,
        signature=found["signature"],
        command=command().replace("`", ""),  # it stands between them
        machine=machine("sacrebleu", "sacremoses", gpu=True),
        validation="The validation set chose the checkpoints and the length penalty, so its scores flatter."
        + ("" if test or earlier else " The test set has not been read."),
    )
    write_text(new / "README.md", card)
    place.parent.mkdir(exist_ok=True)
    for file in new.iterdir():  # the old model stands until all is done
        shutil.move(file, place.parent / file.name)
    print(card)


if __name__ == "__main__":
    main()
