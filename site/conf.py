"""How Sphinx builds the site; ``python -m tools.book`` runs it."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx
from sphinx.project import Project

from tools import pages

project = "Neural machine translation"
html_title = "NMT with the original Transformer"
html_baseurl = pages.BASE
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "notfound.extension",
    "sphinxext.opengraph",
]
if pages.PUBLISHED:  # a map needs whole addresses
    extensions.append("sphinx_sitemap")
# Sphinx reads the repository; see `as_page`.
include_patterns = [*pages.PAGES]
exclude_patterns = [".*", "build", "runs"]
source_suffix = dict.fromkeys([".md", ".ipynb", ".yaml"], "myst-nb")
root_doc = "index"
html_theme = "sphinx_book_theme"
STATIC = pages.ROOT / "site" / "static"
html_static_path = [str(STATIC), str(pages.ROOT / "figures/card.png")]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer", "priority": 100})]  # before MathJax
html_context = {"default_mode": "auto"}
html_search_scorer = str(STATIC / "scorer.js")
html_favicon = str(STATIC / "icon.svg")
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {
    "**": ["navbar-logo.html", "search-button-field.html", "sbt-sidebar-nav.html"]
}
html_theme_options = {
    "use_download_button": False,  # each chapter has its own
    "use_fullscreen_button": False,
    "back_to_top_button": False,  # it would lie on what one touches
    "home_page_in_toc": False,
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": {
        "**": ["page-toc.html"],
        **{"index": [], "live": [], "train": []},
    },
    "footer_content_items": [],
    "search_bar_text": "Search chapters and library",
}

nb_execution_mode = "off"  # what is shown is what is stored
nb_merge_streams = True
nb_render_markdown_format = "myst"
nb_code_prompt_show, nb_code_prompt_hide = "Show {type}", "Hide {type}"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a chapter may leave out a level of headings
# What the repository holds is checked without a network.
linkcheck_ignore = [
    re.escape(pages.REPOSITORY),
    r"https://colab\.research\.google\.com",
]
linkcheck_report_timeouts_as_broken = False
mathjax3_config = {"options": {"enableMenu": False}}  # it would load what is not here

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 70
add_module_names = False
toc_object_entries_show_parents = "hide"
napoleon_numpy_docstring = False
napoleon_use_rtype = False

ogp_site_url, ogp_site_name, ogp_type = html_baseurl, html_title, "article"
ogp_image = "_static/card.png"
ogp_custom_meta_tags = ['<meta name="twitter:card" content="summary_large_image">']
sitemap_url_scheme, sitemap_excludes = "{link}", ["404.html"]
notfound_urls_prefix = urlparse(html_baseurl).path or "/"
notfound_context = {
    "title": "Not here",
    "body": "<h1>This page is masked</h1>"
    "<p>Its weight is 0: there is nothing at this address. Perhaps it has moved.</p>"
    f'<p><a href="{notfound_urls_prefix}index.html">The chapters</a> · '
    f'<a href="{notfound_urls_prefix}live.html">Translate something</a></p>',
}
copybutton_selector = (
    '.cell_input .highlight pre, .bd-article > section > div[class^="highlight-"] pre'
)


def with_alt(render: NbElementRenderer, data: MimeData) -> list[Any]:
    """Gives a picture the alt text that the notebook stores."""
    (image,) = draw(render, data)
    image["alt"] = data.output_metadata.get(data.mime_type, {}).get("alt", "")
    return [image]


draw = NbElementRenderer.render_image
NbElementRenderer.render_image = with_alt


def at_root(project: Project, filename: str | PathLike[str]) -> str | None:
    """The pages of the folder ``site`` are at the root of the book."""
    name = path2doc(project, filename)
    return name and name.removeprefix("site/")


path2doc = Project.path2doc
Project.path2doc = at_root  # type: ignore[assignment, method-assign]


def as_page(app: Sphinx, name: str, content: list[str]) -> None:
    """A file of the repository as a page: with buttons, lists and links."""
    path = app.project.doc2path(name, absolute=False)
    content[0] = pages.page(Path(path).as_posix())


def as_written(app: Sphinx, *others: Any) -> None:
    """Keeps Sphinx from reading ``|x|`` as a reference and ``D.`` as a list."""
    lines = others[-1]
    for i, line in enumerate(lines):
        line = re.sub(r"(``.*?``)|\|", lambda match: match[1] or r"\|", line)
        lines[i] = re.sub(r"^\s*(?=[A-Za-z]\.$)", r"\g<0>\\", line)


def without_keys(
    app: Sphinx, what: str, name: str, thing: object, *others: Any
) -> tuple[str, None] | None:
    """A config's keys are explained in its YAML file."""
    return ("", None) if what == "class" and hasattr(thing, "model_fields") else None


def skipped(app: Sphinx, what: str, name: str, *others: Any) -> bool | None:
    """Leaves out what pydantic adds to a class."""
    return True if name == "model_config" else None


def with_roles(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Tells screen readers that parameters below each other are a list."""
    item, named = '<dd role="listitem">', '<em class="sig-param">'
    for before, after in {
        f"<dd>{named}": f"{item}{named}",
        f"<dl>\n{item}": f'<dl role="list">\n{item}',
        # The summary says "Show source" itself.
        '<summary aria-label="Toggle hidden content">': "<summary>",
    }.items():
        context["body"] = context.get("body", "").replace(before, after)


def past_deeper(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Makes "next" lead from chapter to chapter, past the deeper pages."""
    chapters = [path.removesuffix(".ipynb") for path in pages.found(pages.CHAPTERS)]
    for key, step in (("prev", -1), ("next", 1)):
        if page in chapters and 0 <= (i := chapters.index(page) + step) < len(chapters):
            link = app.builder.get_relative_uri(page, chapters[i])
            context[key] = {"link": link, "title": app.env.titles[chapters[i]].astext()}
        if context.get(key):
            context[key]["title"] = pages.short(context[key]["title"])


def setup(app: Sphinx) -> None:
    app.connect("source-read", as_page)
    app.connect("html-page-context", past_deeper)
    app.connect("html-page-context", with_roles)
    app.connect("autodoc-process-signature", without_keys)
    app.connect("autodoc-skip-member", skipped)
    app.connect("autodoc-process-docstring", as_written, priority=900)  # after napoleon
