"""What an object takes in memory: the growth beyond what a settled server has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from bench import memory

STARTED, SETTLED, COUNT = 40e6, 30e6, 1000
ITEM = 22.0
PROGRAM = 2_500_000.0  # bytes of its program, which it reads when it is first asked for something


class FakeServer:
    """A server that gives memory back 1.5 s after its start, and then reads its program again."""

    name = "ours"
    pid = 1

    def __init__(self) -> None:
        self.age_s = 0.0
        self.held = 0.0
        self.program = 0.0

    def load(self, _commands: object, _at_once: int) -> None:
        self.held += COUNT * ITEM
        self.program = PROGRAM

    def call(self, *words: object) -> None:
        assert words == ("FLUSHALL",)
        self.held = 0.0

    @contextmanager
    def client(self) -> Iterator[Any]:
        yield SimpleNamespace(load=self.load, call=self.call)

    def resident(self, _pid: int) -> float:
        return self.held + self.program + (STARTED if self.age_s < 1.5 else SETTLED)


def test_neither_what_a_server_gives_back_nor_its_program_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = FakeServer()

    def sleep(seconds: float) -> None:
        server.age_s += seconds

    @contextmanager
    def started() -> Iterator[list[Any]]:
        server.age_s = server.program = 0.0
        yield [server]

    monkeypatch.setattr("bench.memory.time.sleep", sleep)
    monkeypatch.setattr(memory, "resident_bytes", server.resident)
    results = list(memory.measure(started, COUNT))
    assert len(results) == sum(map(len, memory.TOGETHER))
    assert {result.ours for result in results} == {ITEM}
