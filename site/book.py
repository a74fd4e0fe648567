"""Builds the site from what is stored, in build/site, and follows its links: ``python site/book.py``."""

from __future__ import annotations

import re
import shutil
import sys
import time
from html.parser import HTMLParser
from importlib.metadata import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pages

ICON = re.compile(
    r'(?<=[{,])"?([a-z0-9-]+)"?:\[\d+,\d+,\[[^\]]*\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?'
)
MATHJAX = ("tex-chtml-full.js", "output/chtml/fonts/woff-v2/")


def main() -> int:
    from sphinx.cmd.build import build_main

    start = time.time()
    out, source = pages.ROOT / "build" / "site", pages.ROOT / "build" / "site-pages"
    pages.lay_out(source)
    copy_mathjax(source / "_static" / "mathjax")
    shutil.rmtree(out, ignore_errors=True)
    failed = build_main(
        [
            "-q",
            "-E",
            "-W",
            "--keep-going",
            "-c",
            str(pages.HERE),
            "-d",
            f"{source}/.doctrees",
            str(source),
            str(out),
        ]
    )
    if failed:
        return failed
    for path in [*out.glob("_static/*macros.html"), *out.glob("_static/**/*.map")]:
        path.unlink()  # templates of the theme, and what only its developers need
    for folder in ("_static/locales", "_sources"):
        shutil.rmtree(out / folder, ignore_errors=True)
    shutil.copytree(source / "_static", out / "_static", dirs_exist_ok=True)
    keep_used_icons(out)
    for path in pages.found(pages.CHAPTERS, pages.DEEPER):
        shutil.copy(pages.ROOT / path, out / path)  # what the button Download gives
    problems, count = check(out)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6
    n_pages, seconds = len(list(out.rglob("*.html"))), time.time() - start
    print(
        *problems,
        f"{out}: {n_pages} pages, {count} links, {size:.1f} MB, {seconds:.0f} s",
        sep="\n",
    )
    return bool(problems)


def copy_mathjax(out: Path) -> None:
    """MathJax and its fonts, from the package that brings them."""
    for file in files("sphinx-mathjax-offline") or []:
        name = file.as_posix().partition("static/mathjax/")[2]
        if name.startswith(MATHJAX):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(file.locate()), out / name)


def keep_used_icons(out: Path) -> None:
    """Takes the 2,000 icons out of the theme that no page names: half a megabyte on the way to a phone."""
    icons = out / "_static/scripts/fontawesome.js"
    texts = [
        path.read_text(encoding="utf-8")
        for path in [*out.rglob("*.html"), *out.rglob("scripts/*theme.js")]
    ]
    used = set(re.findall(r"\bfa-([a-z0-9-]+)", "\n".join(texts)))
    icons.write_text(
        ICON.sub(
            lambda m: m[0] if m[1] in used else "", icons.read_text(encoding="utf-8")
        ),
        "utf-8",
    )


class Page(HTMLParser):
    """The anchors of a page, its links, and what a browser fetches for it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self.anchors |= {values.get("id", ""), values.get("name", "")}
        if "href" in values and not (
            tag == "link" and values.get("rel") == "canonical"
        ):
            (self.links if tag == "a" else self.fetched).append(values["href"])
        if "src" in values:
            self.fetched.append(values["src"])


def check(out: Path) -> tuple[list[str], int]:
    """Links and anchors that lead nowhere, and what would be fetched from elsewhere; how many links were followed."""
    found = {path: Page(path) for path in sorted(out.rglob("*.html"))}
    problems, count = [], 0
    for path, page in found.items():
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if link in page.fetched:
                    problems.append(f"{path.relative_to(out)}: fetches {link}")
                continue
            count += 1
            target = (
                (path.parent / unquote(parts.path)).resolve() if parts.path else path
            )
            if not target.exists():
                problems.append(f"{path.relative_to(out)}: {link} does not exist")
            elif (
                parts.fragment
                and target in found
                and unquote(parts.fragment) not in found[target].anchors
            ):
                problems.append(f"{path.relative_to(out)}: {link} has no such anchor")
    return problems, count


if __name__ == "__main__":
    sys.exit(main())
