"""Builds the site in build/site from the stored outputs: ``python -m tools.book``.

``--linkcheck`` follows the links to other sites instead, which needs a network.
"""

from __future__ import annotations

import shutil
import sys

from tools import finish, live, pages


def main() -> int:
    from sphinx.cmd.build import build_main

    builder = "linkcheck" if "--linkcheck" in sys.argv else "html"
    out = pages.ROOT / "build" / ("site" if builder == "html" else builder)
    shutil.rmtree(out, ignore_errors=True)
    # Warnings are errors (-W), for example a broken link between pages.
    options = ["-q", "-E", "-W", "--keep-going", "-b", builder]
    doctrees = out.with_name("doctrees")
    folders = ["-c", pages.ROOT / "site", "-d", doctrees, pages.ROOT, out]
    failed = build_main([*options, *map(str, folders)])
    if failed or builder == "linkcheck":
        return failed
    for path in pages.found(pages.CHAPTERS, pages.DEEPER):
        shutil.copy(pages.ROOT / path, out / path)  # for the Download button
    live.copy_files(out)
    finish.finish(out)
    print(f"{out}: {len(list(out.rglob('*.html')))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
