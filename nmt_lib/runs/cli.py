"""The shell entry: ``python -m nmt_lib train|translate|evaluate CONFIG [--set key=value …]``.

``accelerate launch -m nmt_lib train CONFIG`` starts the same on several GPUs
(``torchrun --nproc_per_node 2 -m nmt_lib …`` with ``ACCELERATE_USE_CPU=1`` on several CPU processes). What goes
wrong is said in one line on stderr, with exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from io import TextIOWrapper
from typing import NoReturn

import nmt_lib as nmt


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    warnings.showwarning = lambda message, *_, **__: print(
        f"warning: {message}", file=sys.stderr
    )
    options = _parser().parse_args(arguments)
    try:
        options.run(_config(options), options)
    except (nmt.NMTError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "stopped; the same command goes on from the last checkpoint",
            file=sys.stderr,
        )
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message} (python -m nmt_lib --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m nmt_lib", description=(__doc__ or "").splitlines()[0]
    )
    commands = parser.add_subparsers(required=True, metavar="train|translate|evaluate")
    for run in (train, translate, evaluate):
        command = commands.add_parser(
            run.__name__, help=run.__doc__, description=run.__doc__
        )
        command.add_argument(
            "config",
            help="a name such as tiny, the path of a .yaml file, or multi30k-en-de",
        )
        command.add_argument(
            "--set",
            nargs="+",
            action="extend",
            default=[],
            metavar="KEY=VALUE",
            help="override keys",
        )
        command.set_defaults(run=run)
        if run is translate:
            command.add_argument(
                "--text", nargs="+", help="texts; default: the lines of standard input"
            )
        if run is evaluate:
            command.add_argument(
                "--split",
                choices=("valid", "test"),
                default="valid",
                help="default: valid",
            )
    return parser


def _config(options: argparse.Namespace) -> nmt.Config:
    """A named config or a YAML file; or that of a model that comes with the library."""
    from ..translator import PRETRAINED

    overrides = nmt.parse_overrides(" ".join(options.set))
    if options.config not in nmt.Translator.pretrained():
        return nmt.load_config(options.config, **overrides)
    folder = PRETRAINED / options.config
    return nmt.load_config(
        folder / "config.yaml", **{"run_dir": str(folder)} | overrides
    )


def train(config: nmt.Config, options: argparse.Namespace) -> None:
    """Train a config, or go on where it was cut off."""
    run = nmt.train(config)
    last = run.history[-1]
    if os.environ.get("RANK", "0") == "0":  # of several processes, one reports
        print(
            f"{run.path}: {int(last['step'])} updates, validation loss {last['valid_loss']:.3f} nats a token "
            f"(best at {run.best_step})"
        )


def translate(config: nmt.Config, options: argparse.Namespace) -> None:
    """Translate TEXT, or each line of standard input."""
    translator = _load(config)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as the input, whatever the locale
    for translation in translator.translate(
        options.text if options.text is not None else _lines()
    ):
        print(translation.text)


def _lines() -> list[str]:
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise nmt.CorpusError(
            f"standard input is not UTF-8 at byte {error.start}"
        ) from None
    return text.removesuffix("\n").split("\n") if text else []


def evaluate(config: nmt.Config, options: argparse.Namespace) -> None:
    """Score a trained config on a part of its corpus."""
    result = nmt.evaluate(
        _load(config), getattr(nmt.load_corpus(config.data), options.split)
    )
    print(f"BLEU {result.bleu:.2f}  {result.bleu_signature}")
    print(f"chrF {result.chrf:.2f}  {result.chrf_signature}")
    print(
        f"perplexity {result.perplexity:.3f}  exactly right {100 * result.exact:.1f} %  ({options.split})"
    )


def _load(config: nmt.Config) -> nmt.Translator:
    try:
        translator = nmt.Translator.load(config.run_path, decode=config.decode)
    except nmt.CheckpointError as error:
        raise nmt.CheckpointError(
            f"{error} (python -m nmt_lib train {config.name} makes it)"
        ) from None
    asked, trained = (
        (c.data.src_lang, c.data.tgt_lang) for c in (config, translator.config)
    )
    if asked != trained:
        raise nmt.ConfigError(
            f"{config.run_path} was trained on {'→'.join(trained)}, not {'→'.join(asked)}: "
            "set data.src_lang and data.tgt_lang as in training"
        )
    return translator
