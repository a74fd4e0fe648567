"""Executes the chapters with papermill, one after the other.

``python -m tools.run --config tiny --out build/tiny`` leaves the executed chapters and
their pictures in that folder; ``--in-place`` stores the outputs in the chapters
themselves, and in the sources of the assignments.
"""

from __future__ import annotations

import argparse
import base64
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import papermill
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

import nmt_lib as nmt
from nmt_lib.training.run_folder import run_path
from tools import answers, links

# The metadata of cells to keep: tags, alt texts (nmt.alt), whether they are folded.
FOLDED = ["jupyter", "jp-MarkdownHeadingCollapsed", "collapsed", "cellView"]
CELL_KEYS = ["nbgrader", "tags", "nmt", *FOLDED]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="tiny", help="a name or a YAML file")
    parser.add_argument("--set", default="", help="such as 'train.max_steps=200'")
    parser.add_argument("--out", type=Path, default=Path("build/tiny"))
    parser.add_argument("--in-place", action="store_true", help="store the outputs")
    parser.add_argument("chapters", nargs="*", type=Path, help="default: all")
    options = parser.parse_args()
    # The chapters run in another folder than this script, and share the trained models.
    os.environ.setdefault("NMT_RUNS", str(links.ROOT / "runs"))
    if "NMT_DATA" in os.environ:
        os.environ["NMT_DATA"] = os.path.abspath(os.environ["NMT_DATA"])
    try:
        config = nmt.load_config(options.config, **nmt.parse_overrides(options.set))
        translator = nmt.load_or_train(config)  # once, before the chapters need it
    except nmt.NMTError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    # A stored progress bar stands still, and has another id in each run.
    os.environ["TQDM_DISABLE"] = "1"
    chapters, parameters = links.chapters(), dict[str, str]()
    if options.in_place:
        chapters += links.assignments()
    else:
        parameters = {"config": options.config, "overrides": options.set}
        options.out.mkdir(parents=True, exist_ok=True)
        show_translations(translator, config)
    failed = False
    for path in options.chapters or chapters:
        if package := links.lacking(path):
            print(f"{path}: not executed, since {package} is not installed")
            continue
        start = time.time()
        target = path if options.in_place else options.out.resolve() / path.name
        try:
            notebook = execute(path, target, parameters)
            (clean if options.in_place else save_pictures)(notebook, target)
            outcome = "executed"
        except PapermillExecutionError as error:
            outcome, failed = f"stopped: {error.ename}: {error.evalue}", True
        print(f"{target}: {time.time() - start:.0f} s, {outcome}", flush=True)
    print(f"\ntrained model: {run_path(config).resolve()}")
    return failed


def execute(chapter: Path, target: Path, parameters: dict[str, str]) -> NotebookNode:
    return papermill.execute_notebook(
        chapter,
        target,
        parameters,
        kernel_name="python3",
        cwd=links.NOTEBOOKS,
        progress_bar=sys.stderr.isatty(),
        extra_arguments=["--log-level=ERROR"],  # kernels warn about their connection
    )


def clean(notebook: NotebookNode, path: Path) -> None:
    """Drops whatever differs from run to run, such as times, and adds the alt texts."""
    # Printed text is cut into chunks at random places.
    notebook, _ = CoalesceStreamsPreprocessor().preprocess(notebook, {})
    for cell, output in images(notebook):
        alt = cell.metadata.get("nmt", {}).get("alt", "")
        output.metadata["image/png"] = {"alt": " ".join(alt.split())}
    course_metadata = {k: v for k, v in notebook.metadata.items() if k == "nmt"}
    notebook.metadata = METADATA | course_metadata
    for cell in notebook.cells:
        cell.metadata = {k: cell.metadata[k] for k in CELL_KEYS if cell.metadata.get(k)}
    answers.hide(notebook)
    nbformat.write(notebook, path)


def images(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, NotebookNode]]:
    """Each output that is a picture, with its cell."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                yield cell, output


def save_pictures(notebook: NotebookNode, path: Path) -> None:
    """Writes the pictures of an executed chapter to its folder."""
    for number, (_, output) in enumerate(images(notebook), start=1):
        png = base64.b64decode(output.data["image/png"])
        path.with_name(f"{path.stem}-{number}.png").write_bytes(png)


def show_translations(translator: nmt.Translator, config: nmt.Config) -> None:
    """Some held-out sentences with their translations."""
    pairs = list(nmt.load_corpus(config.data).valid[:5])
    languages = f"{config.data.src_lang} → {config.data.tgt_lang}"
    print(f"{languages}, sentences that the model has not been trained on:")
    translations = translator.translate([pair.src for pair in pairs])
    for pair, translation in zip(pairs, translations, strict=True):
        print(f"  {pair.src}\n    → {translation.text}\n      ({pair.tgt})")
    print("\nnow the chapters, one after the other:", flush=True)


if __name__ == "__main__":
    sys.exit(main())
