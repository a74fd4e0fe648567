"""Where the page of ``book.explore`` looks for its model."""

from __future__ import annotations

from tests.site.node import in_node, needs_node

pytestmark = needs_node
FILE = "explore/a.safetensors"
SITE, SERVER = "https://x.org/book/04.html", "/user/ada/"
CASES = {
    "on a site": ({"page": SITE}, ["https://x.org/book/explore/a.safetensors"]),
    "a page from a folder": ({"page": "file:///a/04.html"}, []),
    "a server's first folder": (
        {"server": "/", "notebooks": ["04.ipynb"]},
        ["/files/explore/a.safetensors"],
    ),
    "a server of many people, a folder with a space": (
        {"server": SERVER, "notebooks": ["my notebooks/04 ü.ipynb"]},
        ["/user/ada/files/my%20notebooks/explore/a.safetensors"],
    ),
    "two notebooks": (
        {"server": "/", "notebooks": ["a/1.ipynb", "b/2.ipynb", "a/3.ipynb"]},
        ["/files/a/explore/a.safetensors", "/files/b/explore/a.safetensors"],
    ),
    "a server that shows no notebook": ({"server": "/", "notebooks": []}, []),
}


def test_addresses() -> None:
    found = in_node("beside", [["addresses", FILE, at] for at, _ in CASES.values()])
    assert dict(zip(CASES, found, strict=True)) == {
        name: expected for name, (_, expected) in CASES.items()
    }
