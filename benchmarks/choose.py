"""What is chosen for a trained run, on the validation set: how many checkpoints to average, and the length penalty.

Run: ``NMT_DATA=… python benchmarks/choose.py runs/multi30k --choices 10:0.6 20:0.6 20:1.4`` (checkpoints:penalty; of a
later round ``20:1.4:0.3``, with the share of the weights that it began with)
"""

from __future__ import annotations

import argparse
from pathlib import Path

from common import machine, write_table
from multi30k import moses, plain_bleu
from pretrained import average, updates_of
from sacrebleu.metrics import BLEU

import nmt_lib as nmt
from nmt_lib.runs import checkpoints
from nmt_lib.runs.folder import read_config


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument(
        "--choices",
        nargs="+",
        required=True,
        help="checkpoints:penalty, such as 10:0.6",
    )
    parser.add_argument(
        "--begun",
        default="",
        help="of a later round: the translator that it began with",
    )
    parser.add_argument("--round", default="second", help="which one that is")
    options = parser.parse_args()
    files = checkpoints.checkpoint_files(options.run / "checkpoints")
    updates = updates_of(files[-1])
    data = read_config(options.run).data
    pairs = nmt.load_corpus(data).valid
    tokenised = nmt.load_corpus(
        data.model_copy(update={"corpus": "multi30k-tok"})
    ).valid
    later = f"{options.round} round" if options.begun else ""
    rows: list[list[object]] = []
    for choice in options.choices:
        n, penalty, share = (f"{choice}:0").split(":")[:3]
        translator = average(options.run, files[-int(n) :], options.begun, float(share))
        found = translator.translate(
            [pair.src for pair in pairs], length_penalty=float(penalty)
        )
        texts = [translation.text for translation in found]
        cased = BLEU().corpus_score(texts, [[pair.tgt for pair in pairs]])
        lower = plain_bleu(
            moses(texts, data.tgt_lang), [pair.tgt for pair in tokenised]
        )
        rows.append(
            [n, share, penalty, f"{cased.score:.2f}", f"{cased.bp:.3f}", f"{lower:.2f}"]
        )
        write_table(
            f"choice_{data.src_lang}-{data.tgt_lang}{later and '_' + options.round}",
            f"{data.src_lang}→{data.tgt_lang} after {later and f'a {later} of '}{updates:,} updates: "
            "what the validation set prefers",
            [
                "checkpoints averaged",
                "share of the weights it began with",
                "length penalty α",
                "BLEU, cased",
                "of it the brevity penalty",
                "BLEU, lower-cased and tokenised",
            ],
            rows,
            "Beam of 5. A brevity penalty below 1 is the factor by which too short translations lower BLEU. "
            f"{machine('sacrebleu', 'sacremoses')}.",
        )


if __name__ == "__main__":
    main()
