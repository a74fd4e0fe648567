"""Builds the site in build/site from the stored outputs: ``python -m tools.book``.

``--linkcheck`` follows the links to other sites instead, which needs a network.
"""

from __future__ import annotations

import re
import shutil
import sys

from tools import finish, live, pages


def main() -> int:
    from sphinx.cmd.build import build_main

    builder = "linkcheck" if "--linkcheck" in sys.argv else "html"
    source, out = pages.ROOT / "build/site-pages", pages.ROOT / "build/site"
    if builder == "linkcheck":
        out = out.with_name("linkcheck")
    pages.lay_out(source)
    shutil.rmtree(out, ignore_errors=True)
    # Warnings are errors (-W), for example a broken link between pages.
    options = ["-q", "-E", "-W", "--keep-going", "-b", builder]
    folders = ["-c", pages.ROOT / "site", "-d", source / ".doctrees", source, out]
    failed = build_main([*options, *map(str, folders)])
    if failed or builder == "linkcheck":
        return failed
    shutil.copytree(source / "_static", out / "_static", dirs_exist_ok=True)
    for path in pages.found(pages.CHAPTERS, pages.DEEPER):
        shutil.copy(pages.ROOT / path, out / path)  # for the Download button
    live.copy_files(out)
    for page in out.rglob("*.html"):  # 1.5 MB for icons that are also in a font
        html = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"<script [^>]*/fontawesome.js.*\n", "", html), "utf-8")
    finish.finish(source, out)
    print(f"{out}: {len(list(out.rglob('*.html')))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
