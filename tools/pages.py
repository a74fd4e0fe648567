"""The pages of the site: chapters, guide, results, model cards and configs.

Each page keeps its path in the repository, so that links between pages stay valid;
links to other files lead to the repository on GitHub.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import nbformat

from nmt_book.pictures.machine import machine_svg
from tools import answers, links, live, names, train
from tools.links import ROOT

REPOSITORY = "https://github.com/" + links.address()[0]
PUBLISHED = links.published()
BASE = links.documentation(links.address()[0]) if PUBLISHED else ""
TO_REPOSITORY = re.compile(rf"\[([^\]]*)\]\({REPOSITORY}(?:/blob/main/)?([^)]*)\)")
CHAPTERS = "notebooks/[0-9][0-9]_*.ipynb"
DEEPER = "notebooks/deeper/[0-9][0-9]_*.ipynb"
RESULTS = "benchmarks/results/README.md"
BELOW_RESULTS = ("benchmarks/results/[!R]*.md", "nmt_lib/pretrained/*/README.md")
TEXTS = ("notebooks/assignments/README.md", RESULTS, *BELOW_RESULTS)
CONFIGS = "nmt_lib/configs/*.yaml"
PAGES = (CHAPTERS, DEEPER, *TEXTS, CONFIGS, "site/*.md")
BADGE = re.compile(r"(?m)^\[!\[Open in Colab\].*\]\((.*)\)\n\n")
SUMMARY = re.compile(r"<summary>.*?</summary>", re.S)
LINK = re.compile(r"""(\]\(|\b(?:href|src)=")(?![a-z]+:|/)([^)\s"#]*)(\#[^)\s"]*)?""")
CODE = re.compile(
    r'\s*<div class="highlight"[^>]*><pre.*?>(.*)</pre>\s*</div>\s*', re.S
)
UNWRITTEN = "not written yet"  # a stub, says its check
EXPECT = (
    "<details><summary>What do you expect?",
    '<details class="expect"><summary><b>What do you expect?</b>',
)
SUMMARY_OF_SITE = (
    "Notebooks in which the reader writes the Transformer of Attention Is All You "
    "Need, trains it on one processor core, and looks inside it."
)
CONFIG = "nmt.load_config(config, **nmt.parse_overrides(overrides)"
ICON = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="{}"/></svg>'
COLAB = ICON.format("M7 4v16l13-8z")
DOWN = ICON.format("M11 3h2v10l4-4 1 1-6 7-6-7 1-1 4 4zM4 19h16v2H4z")


def found(*patterns: str) -> list[str]:
    """The files of the repository that match, as paths from its root."""
    return [
        path.relative_to(ROOT).as_posix()
        for pattern in patterns
        for path in sorted(ROOT.glob(pattern))
    ]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def notebook_at(path: str) -> nbformat.NotebookNode:
    return answers.read(ROOT / path)


def page(path: str) -> str:
    """What Sphinx reads instead of a file."""
    if path.endswith(".ipynb"):
        return chapter(path)
    if path.endswith(".yaml"):
        return config(path)
    return own(path) if path.startswith("site/") else text(path)


def with_links(source: str, path: str) -> str:
    """The text of the file ``path`` with links to pages of the site, or to GitHub."""
    folder = os.path.dirname(path)

    def replace(match: re.Match[str]) -> str:
        opening, file, anchor = match[1], match[2], unquote(match[3] or "")
        target = os.path.normpath(os.path.join(folder, file)) if file else path
        if target == "README.md":
            return opening + os.path.relpath("site/index.md", folder)
        if target in found(*PAGES):
            # Sphinx and Jupyter name the anchor of a heading differently.
            return opening + file + re.sub(r"[^\w\-#]", "", anchor.lower())
        outside = target.startswith("..") or not (ROOT / target).exists()
        if outside or target.endswith(".png"):
            return match[0]  # Sphinx finds it, or warns
        return f"{opening}{REPOSITORY}/blob/main/{target}{anchor}"

    source = LINK.sub(replace, source)
    return source if PUBLISHED else TO_REPOSITORY.sub(plain_link, source)


def plain_link(link: re.Match[str]) -> str:
    """The text of a link to the repository, with the path of the file."""
    label, file = link.groups()
    return label if Path(file).name in label else f"{label} (`{file}`)"


def text(path: str) -> str:
    """A page of Markdown; the tables and the model cards are below the results."""
    content = with_links(read(path), path)
    if path == RESULTS:
        folder = os.path.dirname(path)
        results = [os.path.relpath(page, folder) for page in found(*BELOW_RESULTS)]
        content += f"\n\n{toctree(results)}\n"
    return content


def config(path: str) -> str:
    """A config: its first comment, then the keys."""
    first, _, keys = read(path).partition("\n")
    return f"# {Path(path).stem}\n\n{first.lstrip('# ')}\n\n```yaml\n{keys}```\n"


def chapter(path: str) -> str:
    """The notebook with buttons instead of its badge; folded cells stay folded."""
    notebook = notebook_at(path)
    first = notebook.cells[0]
    badge = BADGE.search(first.source)
    first.source = BADGE.sub("", first.source)
    doors = buttons(path, badge[1] if badge else "")
    first.source = first.source.replace("\n", f"\n\n{doors}\n", 1)
    # The time is above already, and nothing runs here.
    first.source = re.sub(r"\s*\*\*(Time:|Run the cells).*", "", first.source)
    del notebook.cells[1:3]  # the parameters of a run, and what makes it run anywhere
    set_up = next(cell for cell in notebook.cells if cell.cell_type == "code")
    set_up.source = f"import nmt_lib as nmt\n{set_up.source}"
    set_up.metadata = {"tags": ["hide-input"], "mystnb": {"code_prompt_show": "Set-up"}}
    notebook.cells = [c for c in notebook.cells if "book.machine(" not in c.source]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = SUMMARY.sub(with_formulas, with_links(cell.source, path))
            cell.source = cell.source.replace(*EXPECT)
        else:
            # A reader of the site cannot write it.
            cell.outputs = [
                o for o in cell.outputs if UNWRITTEN not in o.get("text", "")
            ]
            cell.source = cell.source.replace(CONFIG, 'nmt.load_config("tiny"')
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata.tags = sorted({*cell.metadata.get("tags", []), "hide-input"})
        for output in cell.get("outputs", []):
            show_as_code(output)
    if path in found(CHAPTERS):
        number = Path(path).name[:2]
        first.source += f'\n\n<aside class="machine">{machine_svg(number)}</aside>'
        deeper = found(f"notebooks/deeper/{number}_*.ipynb")
        tree = toctree([os.path.relpath(page, "notebooks") for page in deeper])
        notebook.cells.append(nbformat.v4.new_markdown_cell(tree))
    return json.dumps(notebook)


def buttons(path: str, colab: str) -> str:
    """Links instead of the badge, which would be fetched from another site."""
    button = f'<a href="{colab}">{COLAB}Open in Colab</a> ' if colab else ""
    return (
        f'<p class="doors"><span>{hour(notebook_at(path))}</span> '
        f"{live.door(path)}{button}"
        f'<a href="{Path(path).name}" download>{DOWN}Download</a></p>'
    )


def with_formulas(summary: re.Match[str]) -> str:
    """Marks the formulas of a summary for MathJax, since it is HTML, not Markdown."""
    formula = r'<span class="math">\\(\1\\)</span>'
    return re.sub(r"\$([^$]+)\$", formula, summary[0])


def show_as_code(output: nbformat.NotebookNode) -> None:
    """Turns highlighted HTML into a code block with the colours of the page."""
    text = output.get("data", {}).get("text/html", "")
    if code := CODE.fullmatch(text):
        plain = html.unescape(re.sub(r"<[^>]+>", "", code[1])).strip()
        output.data = nbformat.from_dict({"text/markdown": f"```python\n{plain}\n```"})


def own(path: str) -> str:
    """A page of site/; ``{{…}}`` is replaced by what it names."""
    chapters = found(CHAPTERS)
    makers: dict[str, Callable[[str], str]] = {
        "list": lambda pattern: listing(found(pattern)),
        "toctree": lambda pattern: toctree(found(pattern)),
        "contents": lambda _: toctree(
            [f"{short(title(notebook_at(path)))} <{path}>" for path in chapters],
            ":caption: Chapters",
        ),
        "cards": lambda _: "\n".join(card(path) for path in chapters),
        "summary": lambda _: SUMMARY_OF_SITE,
        "colab": lambda _: (
            "On Colab, press “Open in Colab” above a chapter. " * PUBLISHED
        ),
        "names": lambda _: with_links(names.page(f"{REPOSITORY}/blob/main"), path),
        "one_page": lambda _: with_links(one_page(), path),
        "start": lambda _: raw(live.start_page(read("site/ways.html"))),
        "live": lambda _: raw(live.site_page()),
        "train": lambda _: raw(train.site_page()),
    }
    source = read(path).replace("(REPOSITORY)", f"({REPOSITORY})")
    source = with_links(source, path)
    return re.sub(r"\{\{(\w+) ?(.*?)\}\}", lambda m: makers[m[1]](m[2]), source)


TAUGHT_IN = (13, 1, 7, 3, 4, 5, 6, 7, 7, 8, 9)  # the chapter of each section


def one_page() -> str:
    """``nmt_lib/one_page.py``, each section under a heading with its chapter."""
    head, *parts = re.split(r"(?m)^# -+ \d+\. (.*?) -+\n", read("nmt_lib/one_page.py"))
    listing = [f"```python\n{head.strip()}\n```"]
    sections = zip(TAUGHT_IN, parts[::2], parts[1::2], strict=True)
    for i, (number, heading, code) in enumerate(sections, 1):
        (chapter,) = found(f"notebooks/{number:02}_*.ipynb")
        explanation = f"[Chapter {number:02}](../{chapter}) explains it."
        listing.append(
            f"## {i} · {heading}\n\n{explanation}\n\n```python\n{code.strip()}\n```"
        )
    return "\n\n".join(listing)


def raw(page: str) -> str:
    return f"``````{{raw}} html\n{page}\n``````"


def title(notebook: nbformat.NotebookNode) -> str:
    return str(notebook.cells[0].source.splitlines()[0].lstrip("# "))


def short(heading: str) -> str:
    """A title up to its colon."""
    return heading.partition(": ")[0]


def hour(notebook: nbformat.NotebookNode) -> str:
    """How long a chapter takes, according to the notebook."""
    match = re.search(r"\*\*Time:\*\* ([^,;.]+)", notebook.cells[0].source)
    assert match, f"{title(notebook)} does not say how long it takes"
    return match[1]


def toctree(paths: list[str], *options: str) -> str:
    """Tells Sphinx which pages are below this one."""
    if not paths:
        return ""
    return "\n".join(["```{toctree}", ":hidden:", *options, *paths, "```"])


def listing(paths: list[str]) -> str:
    """Links to configs, each with its first comment."""
    titles = {path: read(path).splitlines()[0].lstrip("# ") for path in paths}
    return "\n".join(
        f"- [`{Path(path).stem}`](/{path}): {first}" for path, first in titles.items()
    )


def card(path: str) -> str:
    """A chapter on the start page: picture, title, aim."""
    notebook = notebook_at(path)
    aim = r"\*\*You will be able to\*\*\s*(.*?)(?:\n\n|\Z)"
    match = re.search(aim, notebook.cells[0].source, re.DOTALL)
    goal = " ".join(plain(match[1]).split()) if match else ""
    picture = machine_svg(Path(path).name[:2])
    return (
        f'<a href="{path.replace(".ipynb", ".html")}">'
        f'<div aria-hidden="true">{picture}</div>'
        f"<b>{plain(short(title(notebook)))}</b>"
        f"<span>{goal[:1].upper()}{goal[1:]}</span></a>"
    )


def plain(markdown: str) -> str:
    """Markdown and formulas without their markup, safe inside HTML."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`${}]|\\text", r"\1", markdown)
    return html.escape(text.replace(r"\sqrt", "√"))
