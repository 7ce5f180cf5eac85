"""A primary that lies: its replica stays up, keeps its memory small, and tries again."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.polling import until
from tests.replication.deployment import Node
from tests.replication.kinds import OURS, node_of

ID = b"0123456789abcdef0123456789abcdef01234567"
MARK = b"abcdefghijabcdefghijabcdefghijabcdefghi0"
FULLRESYNC = b"+FULLRESYNC " + ID + b" 100\r\n"
EMPTY = bytes.fromhex("524544495330303130ff0000000000000000")  # an RDB without a key
MOST_BYTES = 64 * 1024 * 1024  # of the replica's memory, beyond what it has at first


def command(*words: bytes) -> bytes:
    parts = [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
    return b"*%d\r\n%b" % (len(words), b"".join(parts))


class Liar:
    """Answers the handshake as *psync* says, then sends *rest*, again and again if *endless*."""

    def __init__(self, psync: bytes, rest: bytes = b"", endless: bool = False) -> None:
        self.links = 0
        self._psync = psync
        self._rest = rest
        self._endless = endless
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self._listening.accept()
            except OSError:
                return
            self.links += 1
            with contextlib.suppress(OSError), link:
                self._lie(link)

    def _lie(self, link: socket.socket) -> None:
        link.settimeout(20)
        while data := link.recv(65536):
            if b"PSYNC" in data:
                link.sendall(self._psync + self._rest)
                while self._endless:
                    link.sendall(self._rest)
                link.settimeout(0.5)  # for the replica to make of it what it likes
                while link.recv(65536):
                    pass
                return
            link.sendall(b"+OK\r\n")


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[Node]:
    node = node_of(OURS, tmp_path / "replica", "--client-query-buffer-limit", "8mb",
                   "--proto-max-bulk-len", "4mb")  # fmt: skip
    try:
        node.start()
        node.client.set("old", "data")
        yield node
    finally:
        node.kill()


def log_of(node: Node) -> str:
    return (node.folder / "log").read_text(errors="replace")


def resident(node: Node) -> int:
    return int(node.client.info("memory")["used_memory_rss"])


def follows_in_vain(replica: Node, liar: Liar) -> None:
    """The replica tries at least twice, answers all the while, and takes no memory for it."""
    before = resident(replica)
    replica.client.execute_command("REPLICAOF", "127.0.0.1", liar.port)
    until(lambda: liar.links >= 2 and replica.client.ping(), "a second try")
    assert resident(replica) < before + MOST_BYTES
    replica.client.execute_command("REPLICAOF", "NO", "ONE")
    replica.client.set("alive", 1)
    liar.close()


@pytest.mark.parametrize(
    "psync",
    [
        b"",
        b"+FULLRESYNC\r\n",
        b"+FULLRESYNC " + ID + b" -1\r\n",
        b"+CONTINUE nonsense\r\n",
        b"-ERR no\r\n",
        b"\xff\x00\r\n",
        FULLRESYNC + b"$-5\r\n",
        FULLRESYNC + b"$999999999999999999\r\nREDIS0010",
        FULLRESYNC + b"$EOF:short\r\n",
        FULLRESYNC + b"+OK\r\n",
    ],
)
def test_what_is_no_answer_ends_the_link_and_changes_nothing(replica: Node, psync: bytes) -> None:
    follows_in_vain(replica, Liar(psync))
    assert replica.client.get("old") == b"data"


@pytest.mark.parametrize("rest", [b"x" * 65536, b"\n" * 10])
def test_a_line_without_an_end_is_not_kept(replica: Node, rest: bytes) -> None:
    liar = Liar(b"", rest, endless=rest[:1] == b"x")
    follows_in_vain(replica, liar)
    assert replica.client.get("old") == b"data"


@pytest.mark.parametrize(
    "snapshot",
    [
        b"",
        b"no snapshot",
        b"REDIS0010" + b"\xfa\x00\x00",
        b"REDIS0010\xfe\x00\x00\x01k\x81\xff\xff\xff\xff\xff\xff\xff\xff",  # a text of 2^64 bytes
        b"REDIS0010\xfe\x63\x00\x01k\x01v\xff" + bytes(8),  # database 99
        b"REDIS0010\xfe\x00\x0f\x01k" + b"\xff" * 50,
    ],
)
def test_a_snapshot_that_is_none_leaves_an_empty_replica(replica: Node, snapshot: bytes) -> None:
    marked = FULLRESYNC + b"$EOF:" + MARK + b"\r\n" + snapshot + MARK
    follows_in_vain(replica, Liar(marked))
    assert replica.client.keys() == [b"alive"]


@pytest.mark.parametrize("load", ["disabled", "swapdb"])
def test_who_is_promoted_without_a_whole_copy_logs_again(replica: Node, load: str) -> None:
    """A copy ends the AOF of what it is to replace; no other copy will come to begin it again."""
    replica.client.config_set("appendonly", "yes")
    replica.client.config_set("repl-diskless-load", load)
    follows_in_vain(replica, Liar(FULLRESYNC + b"$11\r\nno snapshot"))
    assert replica.client.info("persistence")["aof_enabled"] == 1
    until(lambda: not replica.client.info("persistence")["aof_rewrite_in_progress"], "a base")
    replica.client.set("k", "v")
    assert replica.client.execute_command("WAITAOF", 1, 0, 20_000) == [1, 0]
    replica.kill()
    replica.start("--appendonly", "yes")
    assert replica.client.get("k") == b"v"


def test_with_swapdb_the_old_data_stay(replica: Node) -> None:
    replica.client.config_set("repl-diskless-load", "swapdb")
    follows_in_vain(replica, Liar(FULLRESYNC + b"$11\r\nno snapshot"))
    assert replica.client.get("old") == b"data"


def after_a_copy(*commands: bytes) -> Liar:
    return Liar(FULLRESYNC + b"$%d\r\n" % len(EMPTY) + EMPTY, b"".join(commands))


@pytest.mark.parametrize(
    "stream",
    [
        command(b"SELECT", b"99"),
        b"*1\r\n$9999999999\r\n",
        b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5000000\r\n" + b"x" * 5_000_000,
        b"*-7\r\n*x\r\n",
        command(b"MULTI") + command(b"SET", b"k", b"x" * 1_000_000) * 12,
    ],
    ids=["database", "long word", "long value", "no RESP", "long transaction"],
)
def test_a_stream_that_cannot_be_followed_ends_the_link(replica: Node, stream: bytes) -> None:
    follows_in_vain(replica, after_a_copy(stream))


def test_commands_that_no_primary_sends_are_not_run(replica: Node) -> None:
    liar = after_a_copy(
        command(b"SHUTDOWN", b"NOSAVE"),
        command(b"DEBUG", b"SLEEP", b"100"),
        command(b"CONFIG", b"SET", b"maxclients", b"1"),
        command(b"EVAL", b"while true do end", b"0"),
        command(b"BLPOP", b"nosuch", b"0"),
        command(b"SUBSCRIBE", b"channel"),
        command(b"NOSUCH"),
        command(b"SET", b"too", b"few", b"and", b"wrong"),
        command(b"EXEC"),
        command(b"REPLICAOF", b"NO", b"ONE"),
        command(b"SET", b"k", b"v"),
    )
    replica.client.execute_command("REPLICAOF", "127.0.0.1", liar.port)
    until(lambda: replica.client.get("k") == b"v", "the change after all that")
    assert replica.replication()["role"] == "slave"
    assert int(replica.client.config_get("maxclients")["maxclients"]) > 1
    liar.close()


@pytest.mark.parametrize("source", ["", "\u00e9..x", "\u00e9" * 100])
def test_a_host_that_cannot_be_is_tried_again_until_it_can(replica: Node, source: str) -> None:
    replica.client.config_set("bind-source-addr", source or "\u00e9..x")
    replica.client.execute_command("REPLICAOF", source or "127.0.0.1", 1)
    until(lambda: log_of(replica).count("Error condition on socket") >= 2, "a second try")
    replica.client.config_set("bind-source-addr", "")
    replica.client.execute_command("REPLICAOF", "NO", "ONE")
    follows_in_vain(replica, Liar(b"-ERR no\r\n"))


def test_a_primary_that_says_nothing_is_given_up(replica: Node) -> None:
    replica.client.config_set("repl-timeout", 1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        replica.client.execute_command("REPLICAOF", "127.0.0.1", port)
        listening.settimeout(20)
        links = [listening.accept()[0] for _ in range(2)]
        for link in links:
            link.close()
