"""Lays out the pages of the site: chapters, guide, results, models' cards and configs as they stand.

Each page keeps its path in the repository, so links between pages hold; links to other files go to the repository.
"""

from __future__ import annotations

import html
import io
import json
import os
import re
import shutil
import sys
from base64 import b64decode
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import nbformat
from PIL import Image, ImageChops

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "notebooks"))
import links
import names

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
REPOSITORY = "https://github.com/" + links.address()[0]
CHAPTERS = "notebooks/[0-9][0-9]_*.ipynb"
DEEPER = "notebooks/deeper/[0-9][0-9]_*.ipynb"
TEXTS = (
    "notebooks/assignments/README.md",
    "benchmarks/results/*.md",
    "nmt_lib/pretrained/*/README.md",
)
RESULTS = Path("benchmarks/results/README.md")
CONFIGS = "nmt_lib/configs/*.yaml"
BADGE = re.compile(r"^\[!\[Open in Colab\].*\]\((.*)\)$", re.MULTILINE)
LINK = re.compile(r"""(\]\(|\b(?:href|src)=")(?![a-z]+:|/)([^)\s"#]*)(\#[^)\s"]*)?""")
COLAB = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M7 4v16l13-8z"/></svg>'
DOWN = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M11 3h2v10l4-4 1 1-6 7-6-7 1-1 4 4zM4 19h16v2H4z"/></svg>'


def found(*patterns: str) -> list[str]:
    """The files of the repository that match, as paths from its root."""
    return [
        str(path.relative_to(ROOT))
        for pattern in patterns
        for path in sorted(ROOT.glob(pattern))
    ]


def lay_out(out: Path) -> None:
    """Writes everything that Sphinx reads into an empty folder ``out``."""
    shutil.rmtree(out, ignore_errors=True)
    makers: list[tuple[tuple[str, ...], Callable[[str], tuple[str, str]]]] = [
        ((CHAPTERS, DEEPER), chapter),
        (TEXTS, text),
        ((CONFIGS,), config),
        (("site/*.md",), partial(own, out)),
    ]
    for patterns, make in makers:
        for path in found(*patterns):
            name, content = make(path)
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text(content, encoding="utf-8")
    for path in found("figures/*.png"):
        (out / "figures").mkdir(exist_ok=True)
        shutil.copy(ROOT / path, out / path)


def page_of(path: str) -> str | None:
    """The page that shows a file of the repository, if there is one."""
    if path == "README.md":
        return "index.md"
    if path in found(CONFIGS):
        return path.replace(".yaml", ".md")
    return path if path in found(CHAPTERS, DEEPER, *TEXTS) else None


def with_links(source: str, path: str) -> str:
    """A text of the file ``path`` whose links lead to pages of the site, or else into the repository."""

    def replace(match: re.Match[str]) -> str:
        opening, file, anchor = match[1], match[2], unquote(match[3] or "")
        slug = re.sub(
            r"[^\w\-#]", "", anchor.lower()
        )  # of a heading, from the way that Jupyter writes it
        target = (
            os.path.normpath(os.path.join(os.path.dirname(path), file))
            if file
            else path
        )
        if page := page_of(target):
            return (
                opening
                + (os.path.relpath(page, os.path.dirname(path) or ".") if file else "")
                + slug
            )
        if (
            target.startswith("..")
            or target.endswith(".png")
            or not (ROOT / target).exists()
        ):
            return match[0]  # Sphinx knows it, or says that it is dead
        return f"{opening}{REPOSITORY}/blob/main/{target}{anchor}"

    return LINK.sub(replace, source)


def text(path: str) -> tuple[str, str]:
    """A page of Markdown; under the results stand their tables and the models' cards."""
    content = with_links((ROOT / path).read_text(encoding="utf-8"), path)
    below = [
        os.path.relpath(page, RESULTS.parent)
        for page in found(*TEXTS[1:])
        if page != str(RESULTS)
    ]
    return path, f"{content}\n\n{toctree(below)}\n" if path == str(RESULTS) else content


def config(path: str) -> tuple[str, str]:
    """A config: its first comment, then the keys."""
    first, _, keys = (ROOT / path).read_text(encoding="utf-8").partition("\n")
    content = f"# {Path(path).stem}\n\n{first.lstrip('# ')}\n\n```yaml\n{keys}```\n"
    return path.replace(".yaml", ".md"), content


def chapter(path: str) -> tuple[str, str]:
    """A notebook: buttons for its badge, folded what is folded, the library's source as code of the page."""
    notebook = nbformat.read(ROOT / path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_links(
                BADGE.sub(partial(buttons, path), cell.source), path
            )
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata.tags = sorted({*cell.metadata.get("tags", []), "hide-input"})
        for output in cell.get("outputs", []):
            show_as_code(output)
    if path in found(CHAPTERS):
        deeper = [
            os.path.relpath(page, "notebooks")
            for page in found(DEEPER)
            if Path(page).name[:2] == Path(path).name[:2]
        ]
        notebook.cells.append(nbformat.v4.new_markdown_cell(toctree(deeper)))
    return path, json.dumps(notebook)


def buttons(path: str, badge: re.Match[str]) -> str:
    """What stands for the badge, which would be fetched from elsewhere."""
    return (
        f'<p class="doors"><span>{minutes(ROOT / path)} min</span> <a href="{badge[1]}">{COLAB}Open in Colab</a> '
        f'<a href="{Path(path).name}" download>{DOWN}Download</a></p>'
    )


def show_as_code(output: nbformat.NotebookNode) -> None:
    """Turns code that brings its own colours into code that takes those of the page, light or dark."""
    shown = output.get("data", {}).get("text/html", "")
    if code := re.fullmatch(
        r'\s*<div class="highlight"[^>]*><pre.*?>(.*)</pre>\s*</div>\s*',
        shown,
        re.DOTALL,
    ):
        plain = html.unescape(re.sub(r"<[^>]+>", "", code[1]))
        output.data = nbformat.from_dict(
            {"text/markdown": f"```python\n{plain.strip()}\n```"}
        )


def own(out: Path, path: str) -> tuple[str, str]:
    """A page of this folder; ``{{…}}`` stand for lists of other pages."""
    source = (ROOT / path).read_text(encoding="utf-8")
    source = re.sub(r"\{\{list (\S+)\}\}", lambda m: listing(found(m[1])), source)
    source = re.sub(r"\{\{toctree (\S+)\}\}", lambda m: toctree(found(m[1])), source)
    if "{{contents}}" in source:
        titles = [f"{short(title(ROOT / path))} <{path}>" for path in found(CHAPTERS)]
        source = source.replace("{{contents}}", toctree(titles, ":caption: Chapters\n"))
    if "{{cards}}" in source:
        source = source.replace(
            "{{cards}}", "\n".join(card(out, path) for path in found(CHAPTERS))
        )
    if "{{names}}" in source:
        source = source.replace("{{names}}", names.page(f"{REPOSITORY}/blob/main"))
    source = with_links(
        source.replace("(REPOSITORY)", f"({REPOSITORY})"), Path(path).name
    )
    return Path(path).name, source.replace(
        "{{viewer}}", viewer(ROOT / "notebooks/00_start_here.ipynb")
    )


def viewer(path: Path) -> str:
    """A sentence, its translation and its attention to touch, as a chapter stores them."""
    outputs = (
        output
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
    )
    stored = (output.get("data", {}).get("text/html", "") for output in outputs)
    shown = next(page for page in stored if 'class="nmt-attention"' in page)
    sides = json.loads(re.findall(r"const data = (.*);\n", shown)[0])["kinds"]["cross"]
    words = [
        [word for word in sides[side] if not re.fullmatch(r"<\w+>", word)]
        for side in ("columns", "rows")
    ]
    source, target = (
        html.escape(re.sub(r" (?=[.,?!])", "", " ".join(side))) for side in words
    )
    said = f'<p class="said"><span>{source}</span> → <b lang="fr">{target}</b></p>'
    return f"``````{{raw}} html\n{said}\n{shown.replace('; run the cell to explore all of them', '')}\n``````"


def title(path: Path) -> str:
    """The title of a notebook."""
    first = nbformat.read(path, as_version=4).cells[0].source
    return first.splitlines()[0].lstrip("# ")


def short(heading: str) -> str:
    """A title without what follows its colon."""
    return heading.partition(": ")[0]


def minutes(path: Path) -> int:
    """How long a notebook says that it takes to read; ``check.py`` keeps it true."""
    said = re.search(
        r"about\s+(\d+)\s+minutes\s+to\s+read",
        nbformat.read(path, as_version=4).cells[0].source,
    )
    assert said, f"{path.name} does not say how long it takes"
    return int(said[1])


def toctree(paths: list[str], options: str = "") -> str:
    """What Sphinx needs to know which pages belong here."""
    return (
        f"```{{toctree}}\n:hidden:\n{options}"
        + "\n".join(page_of(path) or path for path in paths)
        + "\n```"
        if paths
        else ""
    )


def listing(paths: list[str]) -> str:
    """Links to pages by their titles; a config with its first comment."""
    lines = []
    for path in paths:
        first = (ROOT / path).read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        lines.append(
            f"- [`{Path(path).stem}`]({path}): {first}"
            if path.endswith(".yaml")
            else f"- [{first}]({path})"
        )
    return "\n".join(lines)


def card(out: Path, path: str) -> str:
    """A chapter on the start page: picture, title, what it is for, minutes."""
    notebook = nbformat.read(ROOT / path, as_version=4)
    aim = re.search(
        r"\*\*You will be able to\*\*\s*(.*?)(?:\n\n|\Z)",
        notebook.cells[0].source,
        re.DOTALL,
    )
    about = " ".join(plain(aim[1]).split()) if aim else ""
    name, image = Path(path).stem, ""
    if picture := chosen(notebook):
        (out / "_static/cards").mkdir(parents=True, exist_ok=True)
        picture.thumbnail((480, 360), Image.Resampling.LANCZOS)
        picture.save(out / f"_static/cards/{name}.webp", quality=80)
        size = f'width="{picture.width}" height="{picture.height}"'
        image = f'<img src="_static/cards/{name}.webp" alt="" loading="lazy" {size}>'
    return (
        f'<a href="{path.replace(".ipynb", ".html")}">{image}<b>{plain(short(title(ROOT / path)))}</b>'
        f"<span>{about[:1].upper()}{about[1:]}</span><i>{minutes(ROOT / path)} min</i></a>"
    )


def chosen(notebook: nbformat.NotebookNode) -> Image.Image | None:
    """The picture of the cell tagged ``card``, else the first that is no thin strip, else the first."""
    pictures = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                image = on_white(b64decode(output.data["image/png"]))
                pictures.append(
                    (
                        "card" not in cell.metadata.get("tags", []),
                        image.width > 2.5 * image.height,
                        image,
                    )
                )
    return min(pictures, key=lambda ranked: ranked[:2])[2] if pictures else None


def on_white(png: bytes) -> Image.Image:
    """A picture without its margins."""
    image = Image.open(io.BytesIO(png)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    image = Image.alpha_composite(white, image).convert("RGB")
    return image.crop(ImageChops.difference(image, white.convert("RGB")).getbbox())


def plain(markdown: str) -> str:
    """Markdown without its marks, safe inside HTML."""
    return html.escape(re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`$]", r"\1", markdown))
