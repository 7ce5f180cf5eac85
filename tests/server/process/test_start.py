"""The start of the program as seen from outside: exit status, standard error, log."""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.process import build
from tests.polling import until
from tests.ports import free_port

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60.0
READY = "Ready to accept connections"


def command(*argv: object) -> list[str]:
    return [sys.executable, "-m", "server", *map(str, argv)]


def run(*argv: object) -> subprocess.CompletedProcess[str]:
    """Start the program, and wait until it exits."""
    return subprocess.run(
        command(*argv), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def answer(port: int, request: bytes = b"PING\r\n") -> bytes:
    """The reply to *request*; b"" if no server answers."""
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as sock:
            sock.sendall(request)
            return sock.recv(4096)
    except OSError:
        return b""


def shut_down(port: int) -> None:
    """Send SHUTDOWN, and wait until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as sock:
        sock.sendall(b"SHUTDOWN\r\n")
        assert sock.recv(4096) == b""


class Running:
    """A server in the foreground; its log is its output."""

    def __init__(self, folder: Path, *argv: object) -> None:
        self.port = free_port()
        self.log = folder.parent / f"{self.port}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command("--port", self.port, "--dir", folder, *argv),
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def is_ready(self) -> bool:
        """Wait for the READY line. Returns False if the program has exited instead."""
        until(lambda: self.process.poll() is not None or READY in self.text(), "ready, or the end")
        return READY in self.text()

    def text(self) -> str:
        return self.log.read_text()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    return made


@pytest.fixture
def first(folder: Path) -> Iterator[Running]:
    """A server that is ready."""
    running = Running(folder)
    assert running.is_ready(), running.text()
    yield running
    running.kill()


# ---------------------------------------------------------------------- a full disk


def test_what_is_imported_while_the_disk_is_full_can_be_imported_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytecode of Lua's modules was cut short, and no server had scripts from then on."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "bytecode"))
    for is_full in (True, False):
        running = Running(folder, "--save", "")
        try:
            assert running.is_ready(), running.text()
            if is_full:
                resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (100, 100))
            assert answer(running.port, b"EVAL 'return 1' 0\r\n") == b":1\r\n"
        finally:
            running.kill()


# ---------------------------------------------------------------------- two servers on one folder


def test_a_second_server_on_the_folder_is_refused(first: Running, folder: Path) -> None:
    done = run("--port", free_port(), "--dir", folder)
    assert done.returncode == 1
    assert f"{folder} is in use by another Penstock server, process {first.process.pid}:" in (
        done.stderr
    )
    assert answer(first.port) == b"+PONG\r\n"


def test_of_two_servers_started_at_once_only_one_stays(folder: Path) -> None:
    servers = [Running(folder), Running(folder)]
    try:
        assert sorted(server.is_ready() for server in servers) == [False, True]
    finally:
        for server in servers:
            server.kill()


def test_a_killed_server_can_be_started_again_at_once(first: Running, folder: Path) -> None:
    first.kill()
    second = Running(folder)
    assert second.is_ready(), second.text()
    second.kill()


def test_a_server_that_saves_nothing_may_share_the_folder_but_cannot_save(
    first: Running, folder: Path
) -> None:
    guest = Running(folder, "--save", "", "--enable-debug-command", "yes")
    try:
        assert guest.is_ready(), guest.text()
        for request in (
            b"SAVE",
            b"BGSAVE",
            b"CONFIG SET save '60 1'",
            b"CONFIG SET appendonly yes",
        ):
            assert b"in use by another Penstock server" in answer(guest.port, request + b"\r\n")
        for request in (b"BGREWRITEAOF", b"DEBUG RELOAD", b"SHUTDOWN SAVE"):
            assert answer(guest.port, request + b"\r\n").startswith(b"-ERR")
        assert guest.text().count("in use by another Penstock server") == 3
        assert answer(guest.port, b"CONFIG GET save appendonly\r\n") == (
            b"*4\r\n$4\r\nsave\r\n$0\r\n\r\n$10\r\nappendonly\r\n$2\r\nno\r\n"
        )
        assert sorted(os.listdir(folder)) == ["penstock.lock"]
        first.kill()
        assert answer(guest.port, b"SAVE\r\n") == b"+OK\r\n"
    finally:
        guest.kill()


def test_a_server_cannot_move_to_the_folder_of_another(first: Running, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    mover = Running(own, "--enable-protected-configs", "yes")
    try:
        assert mover.is_ready(), mover.text()
        move = b"CONFIG SET dir " + str(tmp_path / "data").encode() + b"\r\n"
        assert b"in use by another Penstock server" in answer(mover.port, move)
        assert str(own).encode() in answer(mover.port, b"CONFIG GET dir\r\n")
    finally:
        mover.kill()


# ---------------------------------------------------------------------- unavailable resources


def test_a_busy_port_is_named_in_the_words_of_redis(first: Running, tmp_path: Path) -> None:
    done = run("--port", first.port, "--bind", "127.0.0.1", "--dir", tmp_path)
    assert done.returncode == 1
    message = (
        f"Could not create server TCP listening socket 127.0.0.1:{first.port}: bind: "
        f"{os.strerror(errno.EADDRINUSE)}. Failed listening on port {first.port} (tcp), aborting."
    )
    assert done.stderr == f"penstock: {message}\n"
    assert f" # {message}\n" in done.stdout


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--dir", "{}/none"], "Can't chdir to '{}/none': No such file or directory"),
        (["--logfile", "{}/none/log"], "Can't open the log file '{}/none/log': No such file or"),
        (["--logfile", "{}"], "Can't open the log file '{}': Is a directory"),
        (["--unixsocket", "{}/none/s"], "Failed opening Unix socket '{}/none/s': bind: No such"),
        (["--unixsocket", "/" + "x" * 200], "Failed opening Unix socket '/xxx"),
        (["--bind", "192.0.2.1"], "socket 192.0.2.1:{port}: bind: Cannot assign requested address"),
        (["--bind", "no.such.host.invalid"], "socket no.such.host.invalid:{port}: "),
        (["--dbfilename", "data"], "Can't save to {}/data ('dbfilename'): it is a directory"),
        (["--appendonly", "yes", "--appenddirname", "file"], "{}/file ('appenddirname') is not"),
        (["--port", "0"], "on: see 'bind', 'port', 'unixsocket', 'tls-port', 'metrics-bind', 'met"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_an_unavailable_resource_is_named(
    tmp_path: Path, folder: Path, options: list[str], named: str
) -> None:
    (tmp_path / "file").touch()
    port = free_port()
    given = [option.replace("{}", str(tmp_path)) for option in options]
    done = run("--port", port, "--dir", tmp_path, *given)
    assert done.returncode == 1
    assert named.replace("{}", str(tmp_path)).replace("{port}", str(port)) in done.stderr
    assert done.stderr.count("\n") == 1
    assert "[Errno" not in done.stdout + done.stderr


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs another user")
def test_a_folder_of_root_is_refused_for_another_user(tmp_path: Path) -> None:
    """A bind mount in a container may be one. Once, the server started, and could not save."""
    folder = tmp_path / "data"
    folder.mkdir()
    for path in (tmp_path.parents[1], tmp_path.parent, tmp_path):
        path.chmod(0o755)
    drop = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "--inh-caps=-all"]
    done = subprocess.run(
        [*drop, *command("--port", free_port(), "--dir", folder)],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    unreadable = ("Permission denied", "error while loading shared libraries")
    if "penstock:" not in done.stderr and any(words in done.stderr for words in unreadable):
        pytest.skip("the other user may not read the program")
    assert done.returncode == 1
    assert f"Can't write in {folder}, " in done.stderr
    assert "as user 12345 (group 12345): Permission denied" in done.stderr


# ---------------------------------------------------------------------- in the background


def start_in_background(folder: Path, *argv: object) -> subprocess.CompletedProcess[str]:
    return run("--dir", folder, "--daemonize", "yes", "--logfile", "server.log", *argv)


def test_a_background_server_serves_when_its_parent_exits(folder: Path) -> None:
    port = free_port()
    done = start_in_background(folder, "--port", port, "--pidfile", "server.pid")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert answer(port) == b"+PONG\r\n"
    log = (folder / "server.log").read_text()
    pid = int((folder / "server.pid").read_text())
    assert f"{pid}:M " in log
    assert READY in log
    shut_down(port)


def test_a_background_server_reports_a_busy_port(first: Running, tmp_path: Path) -> None:
    done = start_in_background(tmp_path, "--port", first.port, "--bind", "127.0.0.1")
    assert done.returncode == 1
    assert "bind: Address already in use" in done.stderr
    assert "bind: Address already in use" in (tmp_path / "server.log").read_text()


def test_a_background_server_reports_a_bad_manifest(folder: Path) -> None:
    (folder / "appendonlydir").mkdir()
    (folder / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n")
    done = start_in_background(folder, "--port", free_port(), "--appendonly", "yes")
    assert done.returncode == 1
    named = f"the manifest {folder}/appendonlydir/appendonly.aof.manifest is broken"
    assert named in done.stderr
    assert named in (folder / "server.log").read_text()


def test_a_background_server_reports_a_broken_snapshot(folder: Path) -> None:
    (folder / "dump.rdb").write_bytes(b"REDIS0011 and nonsense")
    done = start_in_background(folder, "--port", free_port())
    assert done.returncode == 1
    named = f"{folder}/dump.rdb: the RDB cannot be loaded: "
    assert f"penstock: {named}" in done.stderr
    log = (folder / "server.log").read_text()
    assert f" # {named}" in log
    assert " # Short read or OOM loading DB. Unrecoverable error, aborting now." in log


@pytest.mark.parametrize("name", ["base.rdb", "incr.aof"])
def test_a_broken_log_is_named(folder: Path, name: str) -> None:
    """There is a second line, in Redis's words."""
    first = Running(folder, "--appendonly", "yes")
    assert first.is_ready(), first.text()
    assert answer(first.port, b"LPUSH l a\r\n") == b":1\r\n"
    first.kill()
    path = folder / "appendonlydir" / f"appendonly.aof.1.{name}"
    path.write_bytes(path.read_bytes()[:9] + b"nonsense\r\n" * 9)
    done = run("--port", free_port(), "--dir", folder, "--appendonly", "yes")
    assert done.returncode == 1
    assert f"appendonlydir/{path.name}" in done.stderr
    assert done.stderr.count("\n") == 2


def test_a_pid_file_that_cannot_be_written_is_reported_but_does_not_stop_the_start(
    folder: Path,
) -> None:
    """Redis's stock redis.conf names one in /var/run, which only root may write."""
    port = free_port()
    done = start_in_background(folder, "--port", port, "--pidfile", "none/server.pid")
    assert done.returncode == 0
    message = f"Failed to write PID file '{folder}/none/server.pid': No such file or directory"
    assert done.stderr == f"penstock: {message}\n"
    assert f" # {message}\n" in (folder / "server.log").read_text()
    assert answer(port) == b"+PONG\r\n"
    shut_down(port)


# ---------------------------------------------------------------------- the pid file


def test_a_foreground_server_writes_a_pid_file_and_removes_it_at_its_end(
    folder: Path,
) -> None:
    (folder / "server.pid").write_text("1\n")  # of a server that was killed
    running = Running(folder, "--pidfile", "server.pid")
    try:
        assert running.is_ready(), running.text()
        assert (folder / "server.pid").read_text() == f"{running.process.pid}\n"
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(PATIENCE_S) == 0
        assert not (folder / "server.pid").exists()
    finally:
        running.kill()


def test_a_failed_start_leaves_the_pid_file_of_another_server_alone(folder: Path) -> None:
    running = Running(folder, "--pidfile", "server.pid")
    try:
        assert running.is_ready(), running.text()
        run("--port", running.port, "--dir", folder, "--save", "", "--pidfile", "server.pid")
        assert (folder / "server.pid").read_text() == f"{running.process.pid}\n"
    finally:
        running.kill()


# ---------------------------------------------------------------------- what tools look for


def test_the_log_has_the_lines_that_tools_wait_for(first: Running) -> None:
    first.process.send_signal(signal.SIGTERM)
    assert first.process.wait(PATIENCE_S) == 0
    words = [
        "oO0OoO0OoO0Oo Penstock is starting oO0OoO0OoO0Oo",
        f"Running mode=standalone, port={first.port}.",
        "Server initialized",
        "Ready to accept connections tcp",
        "Received SIGTERM scheduling shutdown...",
        "User requested shutdown...",
        "Saving the final RDB snapshot before exiting.",
        "DB saved on disk",
        "Penstock is now ready to exit, bye bye...",
    ]
    lines = first.text().splitlines()
    said = [re.sub(r"^.* [*#] ", "", line) for line in lines]
    assert [line for line in said if line in words] == words


def test_the_version_of_redis_is_where_tools_look_for_it() -> None:
    (line,) = run("--version").stdout.splitlines()
    match = re.search(r"v=(\d+\.\d+\.\d+)", line)
    assert match is not None
    assert match[1] == build.REDIS_VERSION
    assert line.split()[2] == f"v={build.REDIS_VERSION}"
    assert line.endswith(f" penstock={build.VERSION}")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_what_nobody_can_read_is_no_error(option: str) -> None:
    """Regression: a closed stdout gave a traceback."""
    words = ["sh", "-c", 'exec "$@" >&-', "sh", *command(option)]
    done = subprocess.run(words, cwd=ROOT, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_closed_standard_streams_are_opened_as_dev_null(folder: Path) -> None:
    """Otherwise log lines would go into whatever file or socket is opened next."""
    port = free_port()
    words = command("--port", port, "--dir", folder, "--appendonly", "yes")
    process = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *words], cwd=ROOT)
    try:
        until(lambda: answer(port) == b"+PONG\r\n", "a server that answers")
        streams = [Path(f"/proc/{process.pid}/fd/{number}").readlink() for number in range(3)]
        assert streams == [Path(os.devnull)] * 3
    finally:
        process.kill()
        process.wait()
