"""Trains a second round: a run that begins with the weights of a translator instead of random ones.

The optimizer begins anew, so the rate has to warm up again. What ``--set`` changes may be how the weights are found,
but neither the model nor its pieces. The same command goes on where the run was cut off. ``--r-drop 5`` adds R-Drop
(``r_drop.py``), which asks for more processor time: two passes through the model for each sentence.
Run: ``NMT_DATA=… python benchmarks/go_on.py multi30k-en-de multi30k --set run_dir=runs/second train.lr=0.002 …``
"""

from __future__ import annotations

import argparse
from unittest import mock

import torch
from accelerate import Accelerator
from r_drop import RDrop

import nmt_lib as nmt
from nmt_lib import training
from nmt_lib.configs.reading import parse_overrides
from nmt_lib.runs import checkpoints, folder


def begin(config: nmt.Config, first: nmt.Translator) -> None:
    """Makes the folder of a run that has done no update yet."""
    tokenizers = first.src_tokenizer, first.tgt_tokenizer
    trainer = training.Trainer(config, nmt.load_corpus(config.data), tokenizers, config.run_path, Accelerator())
    checkpoints.load_weights(trainer.model, checkpoints.model_state(first.model))
    torch.manual_seed(config.train.seed)
    (config.run_path / "checkpoints").mkdir(parents=True)
    folder.save_tokenizers(config.run_path, tokenizers)
    folder.save_config(config.run_path, config)
    trainer.validate()
    trainer.save()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("translator", help="what Translator.load takes")
    parser.add_argument("config", help="what load_config takes")
    parser.add_argument("--set", nargs="+", required=True, metavar="KEY=VALUE", help="run_dir, at least")
    parser.add_argument("--r-drop", type=float, default=0.0, metavar="ALPHA", help="the weight of the divergence")
    options = parser.parse_args()
    config = nmt.load_config(options.config, **parse_overrides(" ".join(options.set)))
    if not (config.run_path / "config.yaml").exists():
        begin(config, nmt.Translator.load(options.translator, device="cpu"))
    RDrop.alpha = options.r_drop
    with mock.patch.object(training, "Objective", RDrop if options.r_drop else training.Objective):
        print(nmt.train(config).history)


if __name__ == "__main__":
    main()
