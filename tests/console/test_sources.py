"""The sources of the page: small files, nothing inline, nothing of others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "server/console/static"
FILES = sorted(path for path in STATIC.rglob("*") if path.is_file())
NAMES = [path.relative_to(STATIC).as_posix() for path in FILES]
MOST_LINES = 400

# What would take text for markup or code, or is refused by the policy of the page.
UNSAFE = (
    r"\b(inner|outer)HTML\b(?!\.slice)", r"insertAdjacentHTML", r"document\.write", r"\beval\(",
    r"new Function\(", r"\.cssText\b", r"setAttribute\(\s*\"style\"", r"createContextualFragment",
    r"DOMParser", r"\bsrcdoc\b",
)  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_file_is_long_and_each_says_what_it_is(path: Path):
    lines = path.read_text().splitlines()
    assert len(lines) <= MOST_LINES or path.suffix == ".json"  # which is generated
    if path.suffix == ".js":
        assert lines[0].startswith("// ")
    if path.suffix == ".css":
        assert lines[0].startswith("/* ")


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_text_is_taken_for_markup_and_nothing_comes_from_elsewhere(path: Path):
    text = path.read_text()
    for pattern in UNSAFE:
        assert re.search(pattern, text) is None, pattern
    addresses = set(re.findall(r"https?://[\w.-]+", text))
    assert addresses <= {"http://www.w3.org", "https://tempo.example"}


def test_the_page_has_nothing_inline():
    page = (STATIC / "index.html").read_text()
    assert re.search(r"\sstyle=|\son\w+=|<style", page) is None
    assert re.findall(r"<script(?![^>]*src=)", page) == []


def test_each_import_is_a_file_and_each_file_is_imported():
    imported = {"app.js"}
    for path in STATIC.rglob("*.js"):
        for name in re.findall(r"(?:from|import)\s*\(?\"(\.[^\"]+)\"", path.read_text()):
            target = (path.parent / name).resolve()
            assert target.is_file(), f"{path.name}: {name}"
            imported.add(target.relative_to(STATIC).as_posix())
    assert imported == {name for name in NAMES if name.endswith(".js")}
