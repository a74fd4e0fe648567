"""Trains a second round: a run that begins with the weights of a translator instead of random ones.

The optimizer begins anew, so the rate has to warm up again. What ``--set`` changes may be how the weights are found,
but neither the model nor its pieces. The same command goes on where the run was cut off. ``--r-drop 5`` adds R-Drop
(``r_drop.py``), ``--teachers`` distillation (``distil.py``). Both ask for more processor time: a second pass through
the model, or one through each teacher. ``--fresh`` takes the pieces of the translator and begins with random weights
all the same, so the model may differ: that makes a teacher.
Run: ``NMT_DATA=… python benchmarks/go_on.py multi30k-en-de multi30k --set run_dir=runs/second train.lr=0.002 …``
"""

from __future__ import annotations

import argparse
import sys
from unittest import mock

import torch
from accelerate import Accelerator
from distil import Distillation
from r_drop import RDrop

import nmt_lib as nmt
from nmt_lib import training
from nmt_lib.configs.reading import parse_overrides
from nmt_lib.runs import checkpoints, folder
from nmt_lib.tokenizers import fingerprint


def begin(config: nmt.Config, first: nmt.Translator, fresh: bool) -> None:
    """Makes the folder of a run that has done no update yet."""
    tokenizers = first.src_tokenizer, first.tgt_tokenizer
    trainer = training.Trainer(
        config, nmt.load_corpus(config.data), tokenizers, config.run_path, Accelerator()
    )
    if not fresh:
        checkpoints.load_weights(trainer.model, checkpoints.model_state(first.model))
    torch.manual_seed(config.train.seed)
    (config.run_path / "checkpoints").mkdir(parents=True)
    folder.save_tokenizers(config.run_path, tokenizers)
    folder.save_config(config.run_path, config)
    trainer.validate()
    trainer.save()


def load_teachers(names: list[str], first: nmt.Translator) -> list[nmt.Transformer]:
    """Their models; they must know the student's pieces."""
    teachers = [nmt.Translator.load(name, device="cpu") for name in names]
    pieces = fingerprint((first.src_tokenizer, first.tgt_tokenizer))
    for name, teacher in zip(names, teachers, strict=True):
        if fingerprint((teacher.src_tokenizer, teacher.tgt_tokenizer)) != pieces:
            sys.exit(
                f"{name} has other pieces than the student: train it with those, or leave it out"
            )
    return [teacher.model for teacher in teachers]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("translator", help="what Translator.load takes")
    parser.add_argument("config", help="what load_config takes")
    parser.add_argument(
        "--set", nargs="+", required=True, metavar="KEY=VALUE", help="run_dir, at least"
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="random weights: only the pieces are the translator's",
    )
    parser.add_argument(
        "--r-drop",
        type=float,
        default=0.0,
        metavar="ALPHA",
        help="the weight of the divergence",
    )
    parser.add_argument(
        "--teachers", nargs="+", default=[], metavar="TRANSLATOR", help="to learn from"
    )
    parser.add_argument(
        "--share",
        type=float,
        default=Distillation.share,
        help="of the goal that teachers give",
    )
    options = parser.parse_args()
    if options.r_drop and options.teachers:
        sys.exit("--r-drop and --teachers are two ways to train: choose one")
    config = nmt.load_config(options.config, **parse_overrides(" ".join(options.set)))
    first = nmt.Translator.load(options.translator, device="cpu")
    if not (config.run_path / "config.yaml").exists():
        begin(config, first, options.fresh)
    RDrop.alpha, Distillation.share = options.r_drop, options.share
    Distillation.teachers = load_teachers(options.teachers, first)
    objective = (
        RDrop
        if options.r_drop
        else Distillation
        if options.teachers
        else training.Objective
    )
    with mock.patch.object(training, "Objective", objective):
        print(nmt.train(config).history)


if __name__ == "__main__":
    main()
