"""How Sphinx builds the site; ``python -m tools.book`` runs it."""

from __future__ import annotations

import re
import textwrap
from html import escape
from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx

from tools import pages

project = "Neural machine translation"
html_title = "NMT with the original Transformer"
html_baseurl = (
    pages.links.documentation(pages.links.address()[0]) if pages.PUBLISHED else ""
)
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
]
root_doc = "index"
html_theme = "sphinx_book_theme"
STATIC = pages.ROOT / "site" / "static"
html_static_path = [str(STATIC)]
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


def with_alt(render: NbElementRenderer, data: MimeData) -> list[Any]:
    """Gives a picture the alt text that the notebook stores."""
    (image,) = draw(render, data)
    image["alt"] = data.output_metadata.get(data.mime_type, {}).get("alt", "")
    return [image]


draw = NbElementRenderer.render_image
NbElementRenderer.render_image = with_alt


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


def with_card(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Says what a page is about where its address is shared or found."""
    goal = pages.SUMMARY_OF_SITE
    texts = [] if tree is None else [p.astext() for p in tree.findall(nodes.paragraph)]
    if texts and page not in ("index", "search"):
        longer = [
            t for t in texts if len(t) > 60 and not t.startswith(("<", "You need"))
        ]
        said = " ".join((longer or texts)[0].split()).replace(
            "You will be able to ", ""
        )
        goal = said[:1].upper() + said[1:]
    goal = textwrap.shorten(goal, 200, placeholder=" …")
    title = context.get("title") or html_title
    card = f"{html_baseurl}_static/card.png"
    named = {"description": goal, "twitter:card": "summary_large_image"}
    shown = {"og:title": re.sub("<.*?>", "", title), "og:description": goal}
    shown |= {"og:type": "article", "og:site_name": html_title, "og:image": card}
    if html_baseurl:
        shown["og:url"] = f"{html_baseurl}{page}.html"
    tags = [f'<meta name="{k}" content="{escape(v)}">' for k, v in named.items()]
    tags += [f'<meta property="{k}" content="{escape(v)}">' for k, v in shown.items()]
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", past_deeper)
    app.connect("html-page-context", with_roles)
    app.connect("html-page-context", with_card)
    app.connect("autodoc-process-signature", without_keys)
    app.connect("autodoc-skip-member", skipped)
    app.connect("autodoc-process-docstring", as_written, priority=900)  # after napoleon
