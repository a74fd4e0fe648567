"""The CLI: ``python -m nmt_lib train CONFIG [--set key=value …]``, ``translate|evaluate
MODEL``, and ``data FILE --src-lang en --tgt-lang pl``, which shows what a file of
sentence pairs holds.

``torchrun --nproc_per_node 2 -m nmt_lib train CONFIG`` shares the work between two
GPUs, or between two processes where there is no GPU. An error is one line on stderr,
with exit code 2.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import warnings
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import nmt_lib as nmt

from .config import config_names
from .data.corpora import held_out
from .errors import one_line, printable, warn
from .training.atomic_write import write_file
from .training.run_folder import RunFolder

CONFIG = "a config: a name such as tiny, or the path of a .yaml file"
MODEL = f"a run, a model file, the name of a bundled model, or {CONFIG}"


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as the input, whatever the locale
    try:
        with warnings.catch_warnings():  # puts showwarning back
            warnings.showwarning = lambda message, *_, **__: print(
                f"warning: {message}", file=sys.stderr
            )
            options = _parser().parse_args(_utf8(words))
            options.run(options, nmt.parse_overrides(options.set))
    except (nmt.NMTError, OSError, MemoryError, RuntimeError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command resumes the run", file=sys.stderr)
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {one_line(message)} (python -m nmt_lib --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m nmt_lib",
        description="Train, translate, evaluate, or look at a file of sentence pairs.",
    )
    commands = parser.add_subparsers(
        required=True, metavar="train|translate|evaluate|data"
    )
    for run in (train, translate, evaluate):
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.set_defaults(run=run)
        command.add_argument("config", help=CONFIG if run is train else MODEL)
        command.add_argument(
            "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE"
        )
        if run is translate:
            command.add_argument("--text", nargs="+", help="default: standard input")
        if run is evaluate:
            command.add_argument("--split", choices=("valid", "test"), default="valid")
    command = commands.add_parser("data", help=data.__doc__)
    command.set_defaults(run=data, set=[])
    command.add_argument(
        "file", help="tab-separated, CSV, JSON, Parquet, TMX, PO, zip …"
    )
    command.add_argument("--src-lang", required=True, help="a code such as en")
    command.add_argument("--tgt-lang", required=True, help="a code such as pl")
    command.add_argument("--out", help="folder for train.xx, valid.xx and test.xx")
    return parser


def train(options: argparse.Namespace, overrides: dict[str, Any]) -> None:
    """Train a config, or resume a run that was cut off."""
    run = nmt.train(nmt.load_config(options.config, **overrides))
    row = run.history[-1]
    if os.environ.get("RANK", "0") == "0":  # of several processes, one reports
        print(
            f"{run.path}: {int(row['step'])} updates, validation loss "
            f"{row['valid_loss']:.3f} nats per token (best at {run.best_step})"
        )


def translate(options: argparse.Namespace, overrides: dict[str, Any]) -> None:
    """Translate TEXT, or each line of standard input."""
    translator = _load_translator(options.config, overrides)
    texts = _read_stdin() if options.text is None else options.text
    for translation in translator.translate(texts):
        print(translation.text)


def evaluate(options: argparse.Namespace, overrides: dict[str, Any]) -> None:
    """Score a trained config on a part of its corpus."""
    translator = _load_translator(options.config, overrides)
    corpus = nmt.load_corpus(translator.config.data)
    result = nmt.evaluate(translator, getattr(corpus, options.split))
    print(f"BLEU {result.bleu:.2f}  {result.bleu_signature}")
    print(f"chrF {result.chrf:.2f}  {result.chrf_signature}")
    exact = f"exactly right {100 * result.exact:.1f} %  ({options.split})"
    print(f"perplexity {result.perplexity:.3f}  {exact}")


def data(options: argparse.Namespace, _: dict[str, Any]) -> None:
    """Clean and split a file of sentence pairs, and show what is left."""
    langs = options.src_lang, options.tgt_lang
    nmt.load_config("pair", **{"data.src_lang": langs[0], "data.tgt_lang": langs[1]})
    name = printable(options.file)
    pairs, report = nmt.load_pairs(options.file, *langs)
    split = nmt.grouped_split(pairs, held_out(len(pairs)), seed=0)
    print(f"{len(pairs) + report.left_out.total():,} found in {name}")
    if report.columns:
        print(f"columns: {' → '.join(map(printable, report.columns))}")
    for line in report.lines():
        print(line)
    if not pairs:
        raise nmt.CorpusError(f"{name}: no pair is left")
    print(
        f"{len(pairs):,} kept; {split.largest} in the largest group that shares texts"
    )
    print(f"the first: {pairs[0].src}  |  {pairs[0].tgt}")  # or the names of columns?
    parts = [(name, getattr(split, name)) for name in ("train", "valid", "test")]
    for name, part in parts if options.out else []:
        for side, lang in zip(("src", "tgt"), langs, strict=True):
            lines = "".join(f"{getattr(pair, side)}\n" for pair in part)
            file = Path(os.path.expanduser(options.out), f"{name}.{lang}")
            if file.exists() and file.read_bytes() != lines.encode():
                raise nmt.CorpusError(f"{file} is there already: give another folder")
            write_file(file, lines.encode())
    print(", ".join(f"{name} {len(part):,}" for name, part in parts))
    overlap = 100 * nmt.seen_share(split.test, split.train)
    shuffled, n = random.Random(0).sample(pairs, len(pairs)), len(split.test)
    leak = 100 * nmt.seen_share(shuffled[:n], shuffled[n:])
    print(f"{overlap:.1f} % of the test sources are in train")
    print(f"{leak:.1f} % would be, if pairs were drawn one by one\n")
    for pair in split.train[:10]:
        print(f"{pair.src}\n    {pair.tgt}")


def _utf8(arguments: list[str]) -> list[str]:
    """The arguments decoded as UTF-8, whatever the locale."""
    try:
        return [os.fsencode(argument).decode() for argument in arguments]
    except UnicodeError as error:
        raise nmt.ConfigError(f"an argument is not UTF-8: {error}") from None


def _read_stdin() -> list[str]:
    """The lines of standard input."""
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise nmt.CorpusError(f"standard input is not UTF-8: {error}") from None
    return text.removesuffix("\n").split("\n") if text else []


def _load_translator(name: str, overrides: dict[str, Any]) -> nmt.Translator:
    """The translator of a trained config, or what ``Translator.load`` finds."""
    if name not in config_names() and Path(name).suffix not in (".yaml", ".yml"):
        decode = {key.removeprefix("decode."): v for key, v in overrides.items()}
        return nmt.Translator.load(name, decode=decode)
    config = nmt.load_config(name, **overrides)
    folder = RunFolder(config)
    saved = folder.read(folder.path / "model.safetensors")
    if difference := folder.mismatch(saved):
        warn(f"the model in {folder.path} {difference}: train again to change that")
    return nmt.Translator(saved.build_model(), *saved.tokenizers, config)
