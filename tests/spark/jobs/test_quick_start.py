"""The files that are generated so that Spark starts faster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyspark_penstock.jobs import quick_start


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def path_seen_by(interpreter: str, given: str) -> str:
    """PYTHONPATH and the argument, as a program that *interpreter* runs sees them."""
    words = [
        interpreter,
        "-c",
        "import os, sys; print(os.environ['PYTHONPATH'], sys.argv[1])",
        "x y",
    ]
    environment = {**os.environ, "PYTHONPATH": given}
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout


def test_the_interpreter_removes_spark_s_zips_from_pythonpath() -> None:
    interpreter = quick_start.interpreter()
    given = "/s/python/lib/pyspark.zip:/s/python/lib/py4j-0.10-src.zip:/mine::/other.zip"
    assert path_seen_by(interpreter, given) == "/mine:/other.zip x y\n"
    assert path_seen_by(interpreter, "") == " x y\n"


def test_the_script_runs_this_interpreter() -> None:
    words = [quick_start.interpreter(), "-c", "import sys; print(sys.executable)"]
    found = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert os.path.normpath(found.strip()) == os.path.normpath(sys.executable)


def test_a_file_is_written_once_and_its_path_depends_on_its_content(cache: Path) -> None:
    first = quick_start.keep("a", "one")
    assert quick_start.keep("a", "one") == first
    assert quick_start.keep("a", "two") != first
    assert sorted(path.read_text() for path in cache.rglob("a")) == ["one", "two"]


def test_a_folder_is_added_to_the_path_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setattr(sys, "path", list(sys.path))
    for _ in range(2):
        quick_start.add_to_path(tmp_path)
    assert os.environ["PYTHONPATH"] == f"{tmp_path}{os.pathsep}/mine"
    assert sys.path.count(str(tmp_path)) == 1
