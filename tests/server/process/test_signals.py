"""What signals do to a running server."""

from __future__ import annotations

import signal
import socket
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
def test_sighup_and_sigpipe_are_ignored(server: ServerProcess, number: int) -> None:
    server.control.call(b"SET", b"a", b"b")
    server.process.send_signal(number)
    for _ in range(3):
        assert server.control.call(b"GET", b"a") == ("$", b"b")
    assert server.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_and_sigint_save_and_exit_with_status_0(
    server: ServerProcess, tmp_path: Path, number: int
) -> None:
    server.control.call(b"SET", b"a", b"b")
    server.process.send_signal(number)
    assert server.process.wait(ENDS_S) == 0
    assert (tmp_path / "dump.rdb").exists()
    assert "ready to exit, bye bye..." in server.log.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_that_come_while_it_ends_leave_its_status(
    server: ServerProcess, number: int
) -> None:
    """A supervisor may send SIGTERM after SHUTDOWN, and takes any other status for a failure."""
    server.control.send(b"SHUTDOWN NOSAVE\r\n")
    while "ready to exit" not in server.log.read_text():
        pass
    while server.process.poll() is None:
        server.process.send_signal(number)
    assert server.process.returncode == 0


def test_children_ignore_sighup_too(server: ServerProcess, tmp_path: Path) -> None:
    """A terminal that is closed sends SIGHUP to its whole process group."""
    server.control.call(b"DEBUG", b"POPULATE", b"20000")
    server.control.call(b"CONFIG", b"SET", b"rdb-key-save-delay", b"10000")  # a long save
    server.control.call(b"BGSAVE")
    task = Path(f"/proc/{server.process.pid}/task/{server.process.pid}")
    children = (task / "children").read_text().split()
    assert children
    for pid in children:
        ignored = int(Path(f"/proc/{pid}/status").read_text().split("SigIgn:")[1].split()[0], 16)
        assert ignored & 1 << (signal.SIGHUP - 1)


def test_a_second_sigint_ends_a_save_that_takes_long() -> None:
    with pytest.raises(SystemExit) as end, signals.exit_on_second_sigint():
        signal.raise_signal(signal.SIGINT)
    assert end.value.code == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_sigint_ends_a_server_whose_script_never_ends(server: ServerProcess) -> None:
    """Once, nothing but SIGKILL or SHUTDOWN NOSAVE did, since the script had written."""
    server.control.call(b"CONFIG", b"SET", b"busy-reply-threshold", b"1")
    endless = b"redis.call('SET', 'a', 1) while true do end"
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"*3\r\n$4\r\nEVAL\r\n$%d\r\n%b\r\n$1\r\n0\r\n" % (len(endless), endless))
        while server.control.call(b"PING")[0] != "-":
            pass
        server.process.send_signal(signal.SIGINT)
        while "the server stops when it has ended" not in server.log.read_text():
            server.control.call(b"PING")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(ENDS_S) == 1
