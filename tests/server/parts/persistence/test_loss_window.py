"""The loss window: a line for each setting, at the start and in INFO; it follows CONFIG SET."""

from __future__ import annotations

import logging

import pytest

from server.parts.persistence.facts import LOADED
from tests.server.parts.persistence.fake_files import BROKEN, FakeFiles
from tests.server.parts.persistence.machine import Machine


def machine_of(**parameters: object) -> Machine:
    machine = Machine(FakeFiles(), **parameters)
    machine.start()
    return machine


def window(machine: Machine) -> str:
    """The line, as INFO has it."""
    text = LOADED.text(machine.persistence)
    (line,) = [line for line in text.splitlines() if line.startswith("loss_window:")]
    return line.partition(":")[2]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"appendfsync": "always"}, "process killed: nothing; machine lost: nothing"),
        ({"appendfsync": "everysec"}, "machine lost: what was written since the last fsync began"),
        ({"appendfsync": "no"}, "machine lost: what the kernel has not written by itself"),
        ({"no_appendfsync_on_rewrite": True}, "; while a child writes: all since it began"),
        ({"appendonly": False}, "machine lost: all data (nothing is saved)"),
        ({"appendonly": False, "save": [(60, 5)]}, "all since the last snapshot (save 60 5)"),
    ],
)
def test_each_setting_has_its_line(parameters: dict[str, object], expected: str) -> None:
    line = window(machine_of(**parameters))
    assert expected in line
    assert "," not in line, "redis-py would take it for a list"


def test_it_follows_config_set() -> None:
    machine = machine_of(appendonly=False)
    assert window(machine).startswith("process killed or machine lost")
    assert machine.switch(on=True) == b"+OK\r\n"
    assert "has no base yet" in window(machine)
    machine.tick()
    machine.run([b"CONFIG", b"SET", b"appendfsync", b"always"])
    assert window(machine) == "process killed: nothing; machine lost: nothing"


def test_a_disk_that_fails_promises_nothing() -> None:
    machine = machine_of()
    machine.files.plan = lambda _number, name: BROKEN if name == "write" else None
    machine.run([b"SET", b"k", b"v"])
    assert window(machine).startswith("the disk fails")


def test_the_start_says_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "penstock")
    machine_of(appendfsync="always")
    assert "What an OK means: process killed: nothing; machine lost: nothing" in caplog.text
