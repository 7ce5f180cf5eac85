"""Runs Python on the sanitized core: ``python -m tests.sanitizers -m pytest tests/storage``.

The sanitizers must be there before Python is, so another one is started, in the folder of this
file's tree. It stops at the first fault of memory; undefined behaviour is only noted. All
that they report, also of servers that a test has started and of their children, is printed at the
end, and is a failure.

Python takes all its memory from malloc then, so that each object has surroundings and an end that
are watched.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIBRARIES = ("libasan.so", "libubsan.so")  # the first of them must be the first of all
FAULTY = 1  # the exit status


def library(name: str) -> str:
    """The path of a library of the compiler's."""
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def environment(reports: Path) -> Mapping[str, str]:
    """The environment of a Python whose faults are reported in *reports*."""
    log = f"log_path={reports}/report"  # both need the same one, or reports of one are lost
    return {
        **os.environ,
        "LD_PRELOAD": ":".join(map(library, LIBRARIES)),
        "PYTHONMALLOC": "malloc",
        # CPython keeps much until the process ends. What cannot be obtained is a MemoryError.
        "ASAN_OPTIONS": f"detect_leaks=0:halt_on_error=1:allocator_may_return_null=1:{log}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:{log}",
        "PENSTOCK_VARIANT": "sanitized",
    }


def found(reports: Path) -> Iterator[str]:
    """What was reported. That an allocation was refused is no fault."""
    for path in sorted(reports.iterdir()):
        text = path.read_text(errors="replace")
        if "ERROR: AddressSanitizer" in text or "runtime error" in text:
            yield f"{path.name}:\n{text}"


def main(words: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="penstock-reports-") as folder:
        reports = Path(folder)
        run = subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=environment(reports), check=False
        )
        faults = list(found(reports))
    print(*faults, sep="\n", end="")
    print(f"{len(faults)} processes with faults of memory or undefined behaviour")
    return FAULTY if faults else run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
