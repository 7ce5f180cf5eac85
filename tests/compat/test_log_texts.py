"""What the server log says in Redis's words, because a supervisor or a test looks for it there.

Each line is looked for in the logs of the real servers, too, whose other lines differ.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.compat import resp
from tests.compat.connection import Stream
from tests.compat.oracles import REDIS_7, REDIS_8_6, command_of
from tests.compat.processes import ROOT, START_S, ServerProcess, bulk, penstock_command
from tests.ports import free_port

PENSTOCK = "Penstock"
SERVERS = [PENSTOCK, REDIS_7, REDIS_8_6]
MANIFEST = "appendonlydir/appendonly.aof.manifest"
SHORT = "Short read or OOM loading DB. Unrecoverable error, aborting now."
BAD_FORMAT = "Invalid AOF manifest file format"


def command_for(name: str) -> list[str]:
    return penstock_command() if name == PENSTOCK else command_of(name)


# ---------------------------------------------------------------------- starts that are refused


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("dump.rdb", b"garbagegarbage", "Wrong signature trying to load DB from file"),
        ("dump.rdb", b"REDIS0099" + b"\xff" * 9, "Can't handle RDB format version 99"),
        ("dump.rdb", b"REDIS0010\xfe\x00\x00\x01a\x05hel", SHORT),
        ("dump.rdb", b"REDIS0010", SHORT),
        ("dump.rdb", b"RED", SHORT),
        ("dump.rdb", b"REDIS0010\xff12345678", "Wrong RDB checksum expected: ("),
        ("dump.rdb", b"garbagegarbage", "Fatal error loading the DB"),
        (MANIFEST, b"", "Found an empty AOF manifest"),
        (MANIFEST, b"xx\n", "FATAL AOF MANIFEST FILE ERROR"),
        (MANIFEST, b"xx\n", BAD_FORMAT),
        (MANIFEST, b"\n", BAD_FORMAT),
        (MANIFEST, b"file a seq x type b\n", BAD_FORMAT),
        (MANIFEST, b'file "a seq 1 type b\n', BAD_FORMAT),
        (MANIFEST, b"file a seq 1 type z\n", "Unknown AOF file type"),
        (MANIFEST, b"file a/b seq 1 type b\n", "File can't be a path, just a filename"),
        (MANIFEST, b"file a seq 1 type b\nfile b seq 2 type b\n", "Found duplicate base file"),
        (MANIFEST, b"file a seq 2 type i\nfile b seq 1 type i\n", "non-monotonic sequence number"),
        (MANIFEST, b"file " + b"a" * 2000 + b" seq 1 type b\n", "contains too long line"),
        (
            MANIFEST,
            b"file a.1.base.rdb seq 1 type b\n",
            "Unable to obtain the AOF file a.1.base.rdb length. stat: No such file or directory",
        ),
    ],
)  # fmt: skip
def test_a_refused_start_names_broken_files_in_the_words_of_redis(
    file: str, content: bytes, words: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_bytes(content)
    appendonly = "yes" if file == MANIFEST else "no"
    options = ["--port", str(free_port()), "--bind", "127.0.0.1", "--dir", str(tmp_path)]
    status, said = refused([*command_for(name), *options, "--appendonly", appendonly])
    assert status == 1
    assert words in said


@pytest.mark.parametrize("name", SERVERS)
def test_a_missing_configuration_file_is_named_in_the_words_of_redis(
    name: str, tmp_path: Path
) -> None:
    status, said = refused([*command_for(name), str(tmp_path / "none.conf")])
    assert status == 1
    path = tmp_path / "none.conf"
    assert f"Fatal error, can't open config file '{path}': No such file or directory" in said


def refused(command: list[str]) -> tuple[int, str]:
    """The exit status of *command*, and all that it writes."""
    done = subprocess.run(
        command, cwd=ROOT, timeout=START_S, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout.decode(errors="replace")


# ---------------------------------------------------------------------- links to a primary

WELL = {b"PING": b"+PONG\r\n", b"AUTH": b"+OK\r\n", b"REPLCONF": b"+OK\r\n", b"PSYNC": b""}
HISTORY = b"a" * 40


SYNC = "MASTER <-> REPLICA sync: "
FULL = b"+FULLRESYNC " + HISTORY + b" 7\r\n"
NOT_UNDERSTOOD = "(Non critical) Master does not understand REPLCONF"
COME_LATER = "Master is currently unable to PSYNC but should be in the future: "


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize(
    ("word", "answer", "lines"),
    [
        (b"PING", b"-ERR no\r\n", ["Error reply to PING from master: '-ERR no'"]),
        (b"AUTH", b"-ERR no\r\n", ["Unable to AUTH to MASTER: -ERR no"]),
        (
            b"REPLCONF",
            b"-ERR no\r\n",
            [f"{NOT_UNDERSTOOD} listening-port: -ERR no", f"{NOT_UNDERSTOOD} capa: -ERR no"],
        ),
        (b"PSYNC", b"-LOADING no\r\n", [f"{COME_LATER}-LOADING no"]),
        (b"PSYNC", b"-NOMASTERLINK no\r\n", [f"{COME_LATER}-NOMASTERLINK no"]),
        (
            b"PSYNC",
            b"-ERR no\r\n",
            ["Master does not support PSYNC or is in error state (reply: -ERR no)"],
        ),
        (b"PSYNC", b"+OK\r\n", ["Unexpected reply to PSYNC from master: +OK"]),
        (b"PSYNC", b"+FULLRESYNC x\r\n", ["Master replied with wrong +FULLRESYNC syntax."]),
        (
            b"PSYNC",
            FULL + b"-ERR no\r\n",
            [
                "Master replied to PING, replication can continue...",
                f"Full resync from master: {HISTORY.decode()}:7",
                "MASTER aborted replication with an error: ERR no",
            ],
        ),
        (
            b"PSYNC",
            FULL + b"hello\r\n",
            [
                "Bad protocol from MASTER, the first byte is not '$' (we received 'hello'), are you"
                " sure the host and port are right?"
            ],
        ),
        (
            b"PSYNC",
            FULL + b"$EOF:" + HISTORY + b"\r\n",
            [f"{SYNC}receiving streamed RDB from master with EOF to disk"],
        ),
        (
            b"PSYNC",
            FULL + b"$14\r\ngarbagegarbage",
            [
                f"{SYNC}receiving 14 bytes from master to disk",
                f"{SYNC}Flushing old data",
                f"{SYNC}Loading DB in memory",
                "Wrong signature trying to load DB from file",
                "Failed trying to load the MASTER synchronization DB",
            ],
        ),
    ],
)  # fmt: skip
def test_a_replica_logs_what_its_primary_answers_in_the_words_of_redis(
    word: bytes, answer: bytes, lines: list[str], name: str, tmp_path: Path
) -> None:
    with replica_of_nobody(name, tmp_path) as (server, listener), listener.accept()[0] as link:
        with suppress(ConnectionError):  # it has asked for more, and did not like the answer
            converse(link, {**WELL, word: answer})
        for line in lines:
            assert said_by(server, line), line


def converse(link: socket.socket, answers: dict[bytes, bytes]) -> None:
    """Answer by *answers* until PSYNC is answered, or the link is closed."""
    stream = Stream(link)
    asked = b""
    while asked != b"PSYNC" and (request := resp.read(stream)) != resp.CLOSED:
        words = request[1]
        assert isinstance(words, list)
        asked = bulk(words[0])
        link.sendall(answers[asked])


@contextmanager
def replica_of_nobody(name: str, folder: Path) -> Iterator[tuple[ServerProcess, socket.socket]]:
    """A server called *name* that follows the listener, whose part the test plays."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(START_S)
        port = str(listener.getsockname()[1])
        server = ServerProcess(
            command_for(name), folder, "--replicaof", f"127.0.0.1 {port}", "--masterauth", "secret"
        )
        try:
            yield server, listener
        finally:
            server.process.kill()
            server.process.wait()
            server.control.close()


def said_by(server: ServerProcess, words: str) -> bool:
    """Whether the server log of *server* has these *words* before the patience is over."""
    deadline = time.monotonic() + 10
    while words not in server.log.read_text(errors="replace"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
