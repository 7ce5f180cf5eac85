"""Our own contender is measured; of the others only what is installed is there."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bench import queues
from bench.queues import CONTENDERS, OURS, measure
from bench.servers import ServerError
from tests.frameworks import environments


@pytest.fixture(autouse=True)
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The programs run with this tree, not with a wheel of some other day."""
    monkeypatch.setattr(queues, "INSTALLED", tmp_path / "none")
    monkeypatch.delenv("PENSTOCK_COMMAND", raising=False)


@pytest.mark.parametrize("contender", [each for each in CONTENDERS if each.environment == OURS])
def test_ours_is_measured(contender: queues.Contender) -> None:
    command = contender.command()
    assert command is not None
    measured = measure(contender, command, 50, ())
    assert measured.enqueued > 0
    assert measured.done > 0
    assert measured.cost > 0


def test_the_lines_of_many_threads_are_whole_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, a thread said "last" between "first" and the end of that line, and all waited."""
    monkeypatch.syspath_prepend(queues.PROGRAMS)
    marks = importlib.import_module("marks")

    written = []

    class Slow:
        def write(self, text: str) -> None:
            if text == "first\n":
                time.sleep(0.05)
            written.append(text)

        def flush(self) -> None:
            pass

    monkeypatch.setattr(sys, "stdout", Slow())
    kept: Any = marks.Marks(8)
    threads = [threading.Thread(target=kept.job) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [text.split()[0] for text in written] == ["first", "last"]
    assert [text[-1] for text in written] == ["\n", "\n"]


def test_a_program_that_ends_early_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    contender = CONTENDERS[0]
    with pytest.raises(ServerError, match="enqueued"):
        measure(contender, ["false"], 1, ())


def test_a_library_that_is_not_installed_has_no_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environments, "INSTALLED", tmp_path)
    others = [each for each in CONTENDERS if each.environment != OURS]
    assert [each.command() for each in others] == [None] * len(others)
