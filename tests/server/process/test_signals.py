"""What signals do to a server that runs."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.process import signals
from tests.compat.processes import ServerProcess, penstock_command

ENDS_S = 20


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    process = ServerProcess(penstock_command(), tmp_path, "--save", "3600 1000")
    yield process
    process.control.close()
    process.process.kill()
    process.process.wait()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGPIPE])
def test_a_closed_terminal_takes_nothing_along(server: ServerProcess, number: int) -> None:
    server.control.call(b"SET", b"a", b"b")
    server.process.send_signal(number)
    for _ in range(3):
        assert server.control.call(b"GET", b"a") == ("$", b"b")
    assert server.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_ends_with_status_0_and_its_data_saved(
    server: ServerProcess, tmp_path: Path, number: int
) -> None:
    server.control.call(b"SET", b"a", b"b")
    server.process.send_signal(number)
    assert server.process.wait(ENDS_S) == 0
    assert (tmp_path / "dump.rdb").exists()
    assert "ready to exit, bye bye..." in server.log.read_text()


def test_its_children_do_not_mind_them_either(server: ServerProcess, tmp_path: Path) -> None:
    """The whole group of a terminal that is closed gets a SIGHUP."""
    for n in range(20):
        server.control.call(b"DEBUG", b"POPULATE", b"20000", b"%d" % n)
    server.control.call(b"CONFIG", b"SET", b"rdb-key-save-delay", b"1000")  # it is there for long
    server.control.call(b"BGSAVE")
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    for pid in children.read_text().split():
        ignored = int(Path(f"/proc/{pid}/status").read_text().split("SigIgn:")[1].split()[0], 16)
        assert ignored & 1 << (signal.SIGHUP - 1)


def test_who_insists_ends_a_save_that_takes_long() -> None:
    with pytest.raises(SystemExit) as end, signals.exit_on_second_sigint():
        signal.raise_signal(signal.SIGINT)
    assert end.value.code == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
