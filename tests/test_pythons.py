"""The versions of Python: what is promised, what may be installed, and what is tested agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CLASSIFIER = "Programming Language :: Python :: 3."


def versions() -> list[int]:
    """The minor versions that the Makefile names."""
    (names,) = re.findall(r"^PYTHONS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return [int(name.removeprefix("3.")) for name in names.split()]


def test_the_classifiers_name_the_versions_that_are_tested() -> None:
    named = [line for line in PROJECT["classifiers"] if line.startswith(CLASSIFIER)]
    assert [int(line.removeprefix(CLASSIFIER)) for line in named] == versions()


def test_no_other_version_may_install_it() -> None:
    """Not even a newer one: the core writes fields of Python's own objects."""
    first, *_, last = versions()
    assert PROJECT["requires-python"] == f">=3.{first},<3.{last + 1}"


def test_the_versions_have_no_gap() -> None:
    assert versions() == list(range(versions()[0], versions()[-1] + 1))
