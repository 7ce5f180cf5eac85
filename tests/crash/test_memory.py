"""When the system gives no more memory, acknowledged writes are kept and nothing hangs."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from server.process import build
from tests.crash.rounds import KEEPS, ROOT
from tests.crash.wire import Wire
from tests.crash.writer import is_loaded
from tests.ports import free_port

START_S = 30.0
ROOM = 160 * 1024 * 1024  # bytes that the server may take after its start
ENTRY = b"x" * 20_000
MOST = 3 * ROOM // len(ENTRY)  # entries, by which the memory must have run out


class Server:
    """A running server whose data are in *folder*."""

    def __init__(self, folder: Path, keeps: str) -> None:
        self.port = free_port()
        self.log = folder / "server.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "server", "--port", str(self.port), "--bind", "127.0.0.1",
                 "--dir", str(folder), *KEEPS[keeps]],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        deadline = time.monotonic() + START_S
        while True:
            try:
                self.wire = Wire(self.port)
                if is_loaded(self.wire):
                    return
                self.wire.close()
            except OSError:
                pass
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)

    def limit(self) -> None:
        """Allow it no more than ROOM bytes beyond what it has."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        size = int(status.split("VmSize:")[1].split()[0]) * 1024
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (size + ROOM, size + ROOM))

    def stop(self) -> None:
        self.wire.close()
        self.process.terminate()
        self.process.wait(START_S)


def fill(server: Server) -> tuple[int, int]:
    """Add entries until memory runs out. Return how many were acknowledged and refused."""
    added = refused = 0
    try:
        while added + refused < MOST and refused < 50:
            server.wire.send([[b"XADD", b"s", b"*", b"f", ENTRY]] * 8)
            for _ in range(8):
                if isinstance(reply := server.wire.receive(), Exception):
                    assert str(reply).startswith("OOM "), reply
                    refused += 1
                else:
                    added += 1
    except OSError:
        pass  # the server ended or closed the connection; only acknowledged entries matter
    return added, refused


@pytest.mark.skipif(not build.compiled(), reason="only the compiled core guards its allocations")
@pytest.mark.parametrize("keeps", ["always", "everysec", "rdb"])
def test_a_server_out_of_memory_keeps_serving_or_ends_and_loses_nothing(
    tmp_path: Path, keeps: str
) -> None:
    server = Server(tmp_path, keeps)
    server.limit()
    added, refused = fill(server)
    assert 1000 < added < MOST
    server.wire.close()
    if server.process.poll() is None:
        server.wire = Wire(server.port)
        assert server.wire.call(b"PING") == b"PONG"
        assert server.wire.call(b"XLEN", b"s") >= added
        assert server.wire.call(b"XTRIM", b"s", b"MAXLEN", b"1000000") == 0
        server.stop()
        assert refused
    assert server.process.returncode in {0, 1}
    assert server.log.read_text().count("Traceback") <= 2
    following = Server(tmp_path, keeps)
    assert following.wire.call(b"XLEN", b"s") >= added
    following.stop()
