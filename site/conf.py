"""How Sphinx builds the site; ``book.py`` calls it."""

from __future__ import annotations

import re

import pages
from myst_nb.core.render import MimeData, NbElementRenderer

project = "Neural machine translation"
html_title = "NMT with the original Transformer"
html_baseurl = pages.links.documentation()
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
html_theme = "sphinx_book_theme"
html_static_path = [str(pages.HERE / "static")]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer", "priority": 100})]  # before MathJax
html_context = {"default_mode": "auto"}
html_favicon = str(pages.HERE / "static" / "icon.svg")
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
    "secondary_sidebar_items": {"**": ["page-toc.html"], "index": []},
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
mathjax_path = "mathjax/tex-chtml-full.js"
mathjax3_config = {"options": {"enableMenu": False}}  # it would load what is not here

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 70
add_module_names = False
toc_object_entries_show_parents = "hide"
napoleon_numpy_docstring = False
napoleon_use_rtype = False


def with_alt(render: NbElementRenderer, data: MimeData) -> list:
    """A picture with the text that the notebook stores for those who cannot see it."""
    (image,) = draw(render, data)
    image["alt"] = data.output_metadata.get(data.mime_type, {}).get("alt", "")
    return [image]


draw = NbElementRenderer.render_image
NbElementRenderer.render_image = with_alt


def as_written(
    app, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """A docstring whose ``|x|`` is no reference, and whose ``D.`` does not count a list."""
    lines[:] = [
        re.sub(r"(``.*?``)|\|", lambda match: match[1] or r"\|", line) for line in lines
    ]
    lines[:] = [re.sub(r"^\s*(?=[A-Za-z]\.$)", r"\g<0>\\", line) for line in lines]


def without_keys(
    app, what: str, name: str, thing: object, *others: object
) -> tuple[str, None] | None:
    """A config's keys stand in its YAML file, with a comment each."""
    return ("", None) if what == "class" and hasattr(thing, "model_fields") else None


def skipped(
    app, what: str, name: str, thing: object, skip: bool, options: object
) -> bool | None:
    """What pydantic adds to a class is no part of the library."""
    return True if name == "model_config" else None


def with_roles(app, page: str, template: str, context: dict, doctree: object) -> None:
    """Parameters one below the other are a list without terms, which a screen reader has to be told."""
    body = context.get("body", "").replace(
        '<dd><em class="sig-param">', '<dd role="listitem"><em class="sig-param">'
    )
    body = body.replace(
        '<summary aria-label="Toggle hidden content">', "<summary>"
    )  # it says "Show source" itself
    context["body"] = body.replace(
        '<dl>\n<dd role="listitem">', '<dl role="list">\n<dd role="listitem">'
    )


def past_deeper(app, page: str, template: str, context: dict, doctree: object) -> None:
    """From chapter to chapter, by their short titles: what goes deeper is a way of its own."""
    chapters = [path.removesuffix(".ipynb") for path in pages.found(pages.CHAPTERS)]
    for key, step in (("prev", -1), ("next", 1)):
        if page in chapters and 0 <= (i := chapters.index(page) + step) < len(chapters):
            link = app.builder.get_relative_uri(page, chapters[i])
            context[key] = {"link": link, "title": app.env.titles[chapters[i]].astext()}
        if context.get(key):
            context[key]["title"] = pages.short(context[key]["title"])


def setup(app) -> None:
    app.connect("html-page-context", past_deeper)
    app.connect("html-page-context", with_roles)
    app.connect("autodoc-process-signature", without_keys)
    app.connect("autodoc-skip-member", skipped)
    app.connect("autodoc-process-docstring", as_written, priority=900)  # after napoleon
