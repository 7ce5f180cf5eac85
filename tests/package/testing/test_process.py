"""A server ends with the process that started it, and leaves nothing behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.testing import PenstockServer

STARTS_ONE = """
import sys
from penstock.testing import PenstockServer

server = PenstockServer().start()
print(server.path.parent, server.call("INFO", "server").decode().split("process_id:")[1].split()[0],
      flush=True)
{then}
"""


def run(then: str) -> tuple[subprocess.Popen[str], Path, int]:
    """A process that has started a server and then does *then*; the folder; the server's id."""
    root = Path(__file__).parents[3]
    process = subprocess.Popen(
        [sys.executable, "-c", STARTS_ONE.format(then=then)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert process.stdout is not None
    folder, server = process.stdout.readline().split()
    return process, Path(folder), int(server)


def wait_for_end(pid: int) -> None:
    """Wait until the process *pid*, which is not ours, has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([handle], [], [], 30)[0]
    os.close(handle)


def wait_for_removal(folder: Path) -> None:
    """The keeper holds the folder as its working folder until it has removed it."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if Path(os.readlink(entry / "cwd")) == folder:
                    wait_for_end(int(entry.name))
            except OSError:
                continue
    assert not folder.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_process_leaves_no_server_and_no_folder(number: signal.Signals) -> None:
    process, folder, server = run("sys.stdin.read()")
    process.send_signal(number)
    process.communicate()
    wait_for_end(server)
    wait_for_removal(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_server_that_hangs_is_killed_too() -> None:
    process, folder, server = run(
        "import redis\n"
        "client = server.client(socket_timeout=0.1)\n"
        "try:\n"
        "    client.eval('while true do end', 0)\n"
        "except redis.TimeoutError:\n"
        "    print('hangs', flush=True)\n"
        "sys.stdin.read()"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "hangs\n"
    process.kill()
    process.communicate()
    wait_for_end(server)
    wait_for_removal(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nothing_is_left_if_nobody_stops_it() -> None:
    process, folder, server = run("")
    process.communicate()
    assert process.returncode == 0
    wait_for_end(server)
    wait_for_removal(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_child_that_lives_on_does_not_hold_the_server() -> None:
    process, folder, server = run(
        "import os\n"
        "if not os.fork():\n"
        "    sys.stdin.read()\n"
        "    os._exit(0)\n"
        "os.kill(os.getpid(), 9)"
    )
    assert process.wait() == -signal.SIGKILL
    wait_for_end(server)
    wait_for_removal(folder)
    process.communicate()


def test_an_interrupt_of_the_terminal_is_not_the_servers() -> None:
    with PenstockServer() as server:
        pid = int(server.call("INFO", "server").split(b"process_id:")[1].split()[0])
        assert os.getpgid(pid) != os.getpgid(0)
        assert os.getsid(pid) != os.getsid(0)
