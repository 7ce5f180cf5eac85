"""Pages of program files: those that are unchanged go back to the system, and come again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from server.process import program_pages
from tests.worth import COMPILED

FIELDS = "Size:  8 kB\nRss:  8 kB\nAnonymous:  {} kB\nLocked:  0 kB\nVmFlags: rd mr\n"
# Nothing may be given back here but the first and the last mapping.
MAPPINGS = "".join(
    line + "\n" + FIELDS.format(anonymous)
    for line, anonymous in [
        ("1000-3000 r-xp 00000000 fe:01 4711      /usr/lib/a library.so", 0),
        ("3000-5000 r-xp 00000000 fe:01 4711      /usr/lib/changed.so", 4),
        ("5000-7000 r--p 00000000 fe:01 4711      /usr/lib/relocated.so", 8),
        ("7000-9000 rw-p 00000000 fe:01 4711      /usr/lib/writable.so", 0),
        ("9000-b000 r--s 00000000 fe:01 4711      /usr/lib/shared.so", 0),
        ("b000-d000 rw-p 00000000 00:00 0         [heap]", 0),
        ("d000-f000 r-xp 00000000 00:00 0         [vdso]", 0),
        ("f000-11000 r--p 00000000 00:00 0 ", 0),
        ("7fff11000-7fff13000 r--p 00002000 fe:01 4711      /usr/lib/library.so", 0),
    ]
)

GIVE_BACK = """
import server.app
from server.process import program_pages

def resident():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("RssFile")).split()[1])

before = resident()
program_pages.give_back()
print(before, resident())
"""


def test_only_mappings_of_files_without_a_changed_page_are_given_back() -> None:
    assert list(program_pages.unchanged(MAPPINGS)) == [
        (0x1000, 0x3000), (0x7FFF11000, 0x7FFF13000),
    ]  # fmt: skip


def test_without_proc_nothing_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_pages, "MAPPINGS", tmp_path / "smaps")
    program_pages.give_back()


@pytest.mark.skipif(not COMPILED, reason="only compiled modules can give pages back")
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system has no /proc")
def test_most_pages_of_files_go_back_and_the_program_runs_on() -> None:
    """It prints, so the code that it needs for that has come back."""
    ran = subprocess.run([sys.executable, "-c", GIVE_BACK], check=True, stdout=subprocess.PIPE)
    before, after = map(int, ran.stdout.split())
    assert after < before / 2
