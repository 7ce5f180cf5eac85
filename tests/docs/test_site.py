"""The site is built without a warning, has every page, and loads nothing from other hosts."""

from __future__ import annotations

import html.parser
import os
import re
import shutil
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
    built = build(CONFIGURATION, folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def build(configuration: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site into *folder*, as ``make site`` does; --quiet would hide what is strict."""
    words = ["build", "--strict", "--config-file", str(configuration), "--site-dir", str(folder)]
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", *words],
        capture_output=True, text=True, timeout=BUILD_S, check=False,
    )  # fmt: skip


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


def test_each_page_is_in_the_navigation() -> None:
    navigation = CONFIGURATION.read_text("utf-8").partition("nav:\n")[2].partition("\ntheme:")[0]
    assert sorted(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE)) == sorted(PAGES)


def test_the_build_refuses_a_page_without_a_place(tmp_path: Path) -> None:
    """The strict build does, not only the test above."""
    made = tmp_path / "docs" / "site"
    shutil.copytree(CONFIGURATION.parent, made, ignore=shutil.ignore_patterns("__pycache__"))
    for page in PAGES:
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text("# A page\n", "utf-8")
    assert build(made / "mkdocs.yml", tmp_path / "built").returncode == 0
    (tmp_path / "docs" / "lost.md").write_text("# Lost\n", "utf-8")
    refused = build(made / "mkdocs.yml", tmp_path / "built")
    assert refused.returncode != 0
    assert "docs/lost.md" in refused.stderr


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
