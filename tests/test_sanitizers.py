"""tests/sanitizers.py: a fault of memory is a failure, in whatever process it is."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.sanitizers import FAULTY, LIBRARIES, ROOT, library

# malloc's own checks would not see it: one byte beyond those that were asked for.
FAULT = """
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
ctypes.memset(libc.malloc(8), 0, {size})
"""
IN_A_CHILD = """
import subprocess, sys
subprocess.run([sys.executable, "-c", {program!r}])
"""

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or any(library(name) == name for name in LIBRARIES),
    reason="gcc has no sanitizers here",
)


def run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.sanitizers", "-c", program]
    return subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)


def test_a_fault_is_reported_and_is_a_failure() -> None:
    done = run(FAULT.format(size=9))
    assert done.returncode == FAULTY
    assert "heap-buffer-overflow" in done.stdout


def test_a_fault_of_a_child_is_a_failure_even_if_nobody_asks_how_it_ended() -> None:
    done = run(IN_A_CHILD.format(program=FAULT.format(size=9)))
    assert done.returncode == FAULTY
    assert "heap-buffer-overflow" in done.stdout


def test_without_a_fault_the_status_is_that_of_what_has_run() -> None:
    assert run(FAULT.format(size=8)).returncode == 0
    assert run("raise SystemExit(3)").returncode == 3
