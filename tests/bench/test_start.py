"""What a server needs at its start: the medians of the rounds, ours first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from bench import start


def test_the_median_of_the_rounds_counts_for_each_figure_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = iter([0.3, 0.01, 0.1, 0.04, 0.2, 0.02])
    resident = iter([30e6, 12e6, 28e6, 13e6, 29e6, 90e6])
    monkeypatch.setattr(start, "SETTLE_SECONDS", 0)
    monkeypatch.setattr(start, "resident_bytes", lambda _pid: next(resident))

    @contextmanager
    def started() -> Iterator[list[Any]]:
        yield [SimpleNamespace(start_seconds=next(seconds), pid=pid) for pid in (1, 2)]

    took, holds = start.measure(started, 3)
    assert (took.unit, took.ours, took.peers) == ("ms", 200.0, [20.0])
    assert (holds.unit, holds.ours, holds.peers) == ("MB", 29.0, [13.0])
