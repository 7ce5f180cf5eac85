"""The spare block of server/process/memory_reserve.py, in processes of their own.

What begins there holds until a process ends.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PENSTOCK_UNCOMPILED")) or platform.libc_ver()[0] != "glibc",
    reason="only compiled, and with glibc, freed memory is kept",
)
IS_SANITIZED = os.environ.get("PENSTOCK_VARIANT") == "sanitized"
kept_here = pytest.mark.skipif(IS_SANITIZED, reason="a use after free has to be seen")

BEGINNING = """
import resource
from server.process import memory_reserve, program_pages

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def is_kept(size):
    memory_reserve.drop_spare()
    b"v" * size
    return memory_reserve.has_spare()

memory_reserve.begin()
program_pages.keep_heap()
"""
LARGE = 200_000_000  # bytes: a hundred pages even if they are huge


def printed(program: str) -> list[str]:
    """What *program* prints, in words."""
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + program], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@kept_here
def test_a_large_value_gets_the_pages_of_the_one_that_was_freed_before() -> None:
    program = f"""
b"v" * {LARGE}
before = faults()
values = [b"v" * ({LARGE} - {LARGE} // 10)]
print(faults() - before, memory_reserve.has_spare())
"""
    new_pages, kept = printed(program)
    assert int(new_pages) < 50
    assert kept == "False"


@kept_here
def test_a_word_that_grows_moves_to_the_spare_block_unchanged() -> None:
    program = f"""
from protocol.long_word import LongWord

def received():
    word = LongWord({LARGE})
    turn = 0
    while not word.is_whole():
        buffer = word.get_buffer()
        buffer[:] = bytes([turn % 251]) * len(buffer)
        word.buffer_updated(len(buffer))
        turn += 1
    return word.finish()

expected = hash(received())
before = faults()
word = received()
print(faults() - before, hash(word) == expected, len(word))
"""
    new_pages, same, size = printed(program)
    assert int(new_pages) < 50
    assert (same, size) == ("True", str(LARGE))


@kept_here
def test_only_one_block_of_4_to_256_mb_is_kept() -> None:
    program = """
print(*(is_kept(size << 20) for size in (1, 3, 5, 255, 257)))
one, other = b"1" * (9 << 20), b"2" * (10 << 20)
del one, other
three = b"3" * (10 << 20)
print(memory_reserve.has_spare())
"""
    assert printed(program) == ["False", "False", "True", "True", "False", "False"]


@kept_here
def test_a_value_that_does_not_fit_leaves_the_spare_block() -> None:
    program = """
b"v" * (64 << 20)
values = [b"s" * (16 << 20), b"l" * (65 << 20)]
print(memory_reserve.has_spare())
"""
    assert printed(program) == ["True"]


@kept_here
def test_the_spare_block_goes_when_it_was_not_used_for_ten_seconds() -> None:
    program = """
b"v" * (9 << 20)
for now_ms in (1000, 10_999, 11_000):
    memory_reserve.tick(now_ms)
    print(memory_reserve.has_spare())
b"v" * (9 << 20)
memory_reserve.tick(20_000)
b"v" * (9 << 20)
for now_ms in (25_000, 30_001, 34_999, 35_000):
    memory_reserve.tick(now_ms)
    print(memory_reserve.has_spare())
"""
    assert printed(program) == ["True", "True", "False", "True", "True", "True", "False"]


@kept_here
def test_an_allocation_that_fails_gives_the_spare_block_back() -> None:
    program = """
b"v" * (9 << 20)
try:
    bytearray(1 << 60)
except MemoryError:
    print(memory_reserve.has_spare(), memory_reserve.is_gone())
"""
    assert printed(program) == ["False", "False"]


def test_with_the_debug_hooks_of_python_nothing_is_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + "print(is_kept(9 << 20))"],
        env={**os.environ, "PYTHONMALLOC": "debug"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "False\n"


@pytest.mark.skipif(not IS_SANITIZED, reason="make sanitize runs this")
def test_under_address_sanitizer_nothing_is_kept() -> None:
    """Otherwise a freed value stays readable, and a use of it after that is not reported."""
    assert printed("print(is_kept(9 << 20), is_kept(100 << 20))") == ["False", "False"]
