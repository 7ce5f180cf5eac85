"""The site is built without a warning, has every page, and loads nothing from other hosts."""

from __future__ import annotations

import html.parser
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.pages import PAGES, ROOT

CONFIGURATION = ROOT / "docs" / "site" / "mkdocs.yml"
BUILD_S = 120
if not os.environ.get("CI"):
    pytest.importorskip("material", reason="mkdocs-material is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = ["build", "--strict", "--quiet", "--config-file", str(CONFIGURATION)]
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", *words, "--site-dir", str(folder)],
        capture_output=True, text=True, timeout=BUILD_S, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


class Document(html.parser.HTMLParser):
    """What a page names: addresses that a browser loads, links, and its own anchors."""

    LOADING = frozenset({"script", "img", "iframe", "source", "video", "object", "embed"})

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if found := named.get("id"):
            self.anchors.add(found)
        loads = tag in self.LOADING or tag == "link"
        for name in ("src", "href", "data"):
            if address := named.get(name):
                (self.loaded if loads else self.links).append(address)


def address_of(page: str) -> str:
    """Where the site has *page*."""
    return page.replace("README.md", "index.md").removesuffix(".md") + ".html"


def test_each_page_is_in_the_navigation(site: Path) -> None:
    """The strict build refuses a page that is not; this looks at what a reader gets."""
    start = site / "index.html"
    links = (link.partition("#")[0] for link in Document(start).links)
    reachable = {(site / link).resolve() for link in links}
    assert [page for page in PAGES if site / address_of(page) not in reachable] == []


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    documents = {path.resolve(): Document(path) for path in site.rglob("*.html")}
    for path, document in documents.items():
        for link in document.links:
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":  # which is served at any depth
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path}: {link}"
            if parts.fragment and target in documents:
                known = documents[target].anchors | {"__search", "__nav", ""}
                assert unquote(parts.fragment) in known, f"{path}: {link}"


def test_a_browser_loads_nothing_from_other_hosts(site: Path) -> None:
    for path in site.rglob("*.html"):
        loaded = Document(path).loaded
        assert [address for address in loaded if urlsplit(address).netloc] == []
    for path in site.rglob("*.css"):
        text = path.read_text("utf-8")
        assert "url(http" not in text
        assert "@import" not in text
