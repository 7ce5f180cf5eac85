"""A worker process of Spark's settles once, and no other process does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import gc, sys
from importlib.machinery import ModuleSpec
sys.modules["__main__"].__spec__ = ModuleSpec({name!r}, None)
from pyspark_penstock.worker_process import settle
settle()
frozen = gc.get_freeze_count()
more = [[] for _ in range(1000)]
settle()
print(frozen > 1000, gc.get_freeze_count() == frozen)
"""


@pytest.mark.parametrize(
    ("name", "is_settled"),
    [
        ("pyspark.daemon", True),
        ("pyspark_penstock.jobs.worker_daemon", True),
        ("my_program", False),
    ],
)
def test_only_workers_settle_and_once(name: str, is_settled: bool) -> None:
    """A program of the user's keeps its garbage within reach of the collector."""
    program = PROGRAM.format(name=name)
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == [str(is_settled), "True"]
