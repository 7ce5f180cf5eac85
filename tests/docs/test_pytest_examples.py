"""The tests on the pages pass, as a stranger's tests with the pytest plugin."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, PROGRAM, ROOT, RUN_ELSEWHERE, Block, blocks
from tests.docs.test_played import A_TEST

TIMEOUT_S = 300


def examples(page: str) -> list[Block]:
    """The tests of *page*, and their fixtures; but not what they replace."""
    return [
        block
        for block in blocks(page)
        if block.language == PROGRAM
        and A_TEST.search(block.text)
        and "import fakeredis" not in block.text
    ]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in RUN_ELSEWHERE and examples(page)]
)
def test_the_tests_of_a_page_pass(page: str, tmp_path: Path) -> None:
    found = examples(page)
    for block in found:
        (tmp_path / f"test_line_{block.line}.py").write_text(block.text, "utf-8")
    plugins = [] if entry_points(group="pytest11", name="penstock") else ["penstock.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *(f"-p{name}" for name in plugins)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    tests = sum(len(re.findall(r"def test_", block.text)) for block in found)
    assert f"{tests} passed" in done.stdout


@pytest.mark.parametrize("page", RUN_ELSEWHERE)
def test_the_other_test_reads_its_page(page: str) -> None:
    assert Path(page).name in (ROOT / RUN_ELSEWHERE[page]).read_text("utf-8")
