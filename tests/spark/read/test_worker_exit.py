"""A stopped query prints no traceback, however late Spark kills the source's process."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """\
from pyspark.sql.types import StructType
from pyspark_penstock.source import PenstockDataSource

reader = PenstockDataSource({options}).streamReader(StructType())
try:
    raise {error}
finally:
    reader.stop()
"""
OPTIONS = [
    {"subscribe": "s"},
    {"subscribe": "s", "group": "g", "groupMode": "shared"},
]


def run(options: dict[str, str], error: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(options=options, error=error)
    words = [sys.executable, "-c", program]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("options", OPTIONS)
def test_the_end_of_the_connection_is_not_an_error(options: dict[str, str]) -> None:
    done = run(options, "EOFError")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("options", OPTIONS)
def test_other_errors_are_printed(options: dict[str, str]) -> None:
    done = run(options, "OSError('no space')")
    assert done.returncode == 1
    assert done.stderr.endswith("OSError: no space\n")
