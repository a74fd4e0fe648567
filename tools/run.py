"""Executes the chapters with papermill, one after the other, and says what came out.

``python notebooks/run.py --config tiny --out build/tiny`` leaves the executed chapters there, and their pictures
beside them; ``--in-place`` stores the outputs in the chapters themselves, and in the sources of the assignments.
"""

from __future__ import annotations

import argparse
import base64
import os
import sys
import time
from pathlib import Path

import nbformat
import papermill
from nbconvert.preprocessors import CoalesceStreamsPreprocessor

import nmt_lib as nmt

HERE = Path(__file__).resolve().parents[1] / "notebooks"
# What a cell's metadata may hold: marks of tools, alt texts (nmt.alt), and what folds a cell or a section.
KEPT = (
    "nbgrader",
    "tags",
    "nmt",
    "jupyter",
    "jp-MarkdownHeadingCollapsed",
    "collapsed",
    "cellView",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--config", default="tiny", help="a named config or a YAML file"
    )
    parser.add_argument(
        "--set",
        default="",
        help="overrides, such as 'train.max_steps=200 data.tgt_lang=de'",
    )
    parser.add_argument("--out", type=Path, default=Path("build/tiny"))
    parser.add_argument(
        "--in-place", action="store_true", help="store the outputs in the chapters"
    )
    parser.add_argument("chapters", nargs="*", type=Path, help="default: all")
    options = parser.parse_args()
    os.environ.setdefault(
        "NMT_RUNS", str(HERE.parent / "runs")
    )  # the chapters share what is trained
    if "NMT_DATA" in os.environ:  # the chapters run in another folder than this script
        os.environ["NMT_DATA"] = str(Path(os.environ["NMT_DATA"]).resolve())
    chapters = options.chapters or sorted(
        [*HERE.glob("[0-9]*.ipynb"), *HERE.glob("deeper/[0-9]*.ipynb")]
    )
    if options.in_place and not options.chapters:
        chapters += sorted(HERE.glob("assignments/source/*.ipynb"))
    try:
        config = nmt.load_config(options.config, **nmt.parse_overrides(options.set))
        translator = nmt.load_or_train(config)  # once, before the chapters ask for it
        if not options.in_place:
            show_translations(translator, config)
        for chapter in chapters:
            execute(chapter, options)
        if not options.in_place:
            print(f"\nexecuted chapters and pictures: {options.out.resolve()}")
            print(f"trained model: {config.run_path.resolve()}")
    except nmt.NMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def execute(chapter: Path, options: argparse.Namespace) -> None:
    """Runs one chapter; in place, only outputs change."""
    start = time.time()
    target = chapter if options.in_place else options.out / chapter.name
    target.parent.mkdir(parents=True, exist_ok=True)
    parameters = (
        {} if options.in_place else {"config": options.config, "overrides": options.set}
    )
    papermill.execute_notebook(
        str(chapter),
        str(target),
        parameters,
        kernel_name="python3",
        cwd=str(HERE),
        progress_bar=sys.stderr.isatty(),
        extra_arguments=[
            "--log-level=ERROR"
        ],  # newer kernels warn of their own connection
    )
    if options.in_place:
        clean(target)
    else:
        print(
            f"{target}: {time.time() - start:.0f} s, {save_pictures(target)} pictures"
        )


def clean(path: Path) -> None:
    """Drops what differs from run to run (times, papermill's notes, where prints were cut), adds alt texts."""
    notebook, _ = CoalesceStreamsPreprocessor().preprocess(
        nbformat.read(path, as_version=4), {}
    )
    describe_pictures(notebook)
    kept = {
        key: notebook.metadata[key] for key in notebook.metadata if key == "nmt"
    }  # of an assignment
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
        **kept,
    }
    for cell in notebook.cells:
        cell.metadata = {
            key: cell.metadata[key] for key in KEPT if cell.metadata.get(key)
        }
    nbformat.write(notebook, path)


def describe_pictures(notebook: nbformat.NotebookNode) -> None:
    """Gives each picture its text for those who cannot see it: ``nmt.alt`` of its cell's metadata."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                alt = cell.metadata.get("nmt", {}).get("alt", "")
                output.metadata["image/png"] = {"alt": " ".join(alt.split())}


def save_pictures(path: Path) -> int:
    """Writes the pictures of an executed chapter beside it."""
    notebook, count = nbformat.read(path, as_version=4), 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                count += 1
                path.with_name(f"{path.stem}-{count}.png").write_bytes(
                    base64.b64decode(output.data["image/png"])
                )
    return count


def show_translations(translator: nmt.Translator, config: nmt.Config) -> None:
    """Some held-out sentences with their translations."""
    pairs = list(nmt.load_corpus(config.data).valid[:5])
    print(
        f"{config.data.src_lang} → {config.data.tgt_lang}, sentences that the model never saw:"
    )
    for pair, translation in zip(
        pairs, translator.translate([pair.src for pair in pairs]), strict=True
    ):
        print(f"  {pair.src}\n    → {translation.text}\n      ({pair.tgt})")
    print("\nnow the chapters, one after the other:", flush=True)


if __name__ == "__main__":
    sys.exit(main())
