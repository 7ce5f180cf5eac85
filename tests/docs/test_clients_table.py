"""The README's table of clients and frameworks has what CI installs and runs, and nothing else."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT, text_of

ROW = re.compile(r"^\| ([\w-]+)(?: \(([\w-]+)\))?[^|]*\| ([\d.]+) \|", re.MULTILINE)
ENTRY = re.compile(r"([a-z][\w-]+)(?: \(([\w-]+)\))? (\d[\d.]*\d)")


def test_the_readme_has_the_versions_of_the_page_about_clients() -> None:
    """``tests/frameworks`` holds that page to what is installed, and each program is run."""
    page = text_of("docs/clients.md")
    first_table = page[: page.index("\n\n", page.index("|---"))]
    part = text_of("README.md").partition("## What works with it")[2].partition("\n## ")[0]
    table = "\n".join(line for line in part.splitlines() if line.startswith("|"))
    named = set(ENTRY.findall(table))
    assert named <= set(ROW.findall(page))
    assert named >= set(ROW.findall(first_table))
    assert named


def test_the_readme_names_the_versions_of_spark_that_are_allowed() -> None:
    pinned = re.search(
        r'"pyspark>=(\d+\.\d+),<(\d+)\.(\d+)"', (ROOT / "pyproject.toml").read_text()
    )
    assert pinned is not None
    last = f"{pinned[2]}.{int(pinned[3]) - 1}"
    assert f"Spark {pinned[1]} and {last}" in text_of("README.md")
