"""MIGRATE: what it sends, what it deletes here, and what it answers when the other server fails."""

from __future__ import annotations

import socket
import threading

import pytest

from storage import octets

PATIENCE_S = 20.0


class Peer:
    """The other server. It records the commands it gets, and sends *answers*, a line for each.

    After the last answer it closes the connection.
    """

    def __init__(self):
        self.answers = []
        self.commands = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        connection, _ = self._listener.accept()
        connection.settimeout(PATIENCE_S)
        with connection, connection.makefile("rb") as requests:
            while self.answers and (head := requests.readline()):
                self.commands.append([self._word(requests) for _ in range(int(head[1:]))])
                connection.sendall(self.answers.pop(0) + b"\r\n")

    def _word(self, requests):
        size = int(requests.readline()[1:])
        return requests.read(size + 2)[:-2]

    def stop(self):
        self._thread.join(PATIENCE_S)
        self._listener.close()


@pytest.fixture
def peer():
    made = Peer()
    yield made
    made.stop()


def migrate(server, peer, *words):
    return server.send("MIGRATE", "127.0.0.1", peer.port, *words)


# ---------------------------------------------------------------------- what is sent


def test_migrate_restores_the_key_there_and_deletes_it_here(server, peer):
    server.send_line("SET k v")
    dump = server.send_line("DUMP k")
    server.logged()
    peer.answers = [b"+OK", b"+OK"]
    assert migrate(server, peer, "k", 3, 1000) == b"OK"
    peer.stop()
    assert peer.commands == [[b"SELECT", b"3"], [b"RESTORE", b"k", b"0", dump]]
    assert server.send_line("EXISTS k") == 0
    assert server.logged() == [b"DEL k"]


def test_migrate_with_copy_keeps_the_key(server, peer):
    server.send_line("SET k v")
    server.logged()
    peer.answers = [b"+OK", b"+OK"]
    migrate(server, peer, "k", 0, 1000, "COPY", "REPLACE")
    peer.stop()
    assert peer.commands[1][-1] == b"REPLACE"
    assert server.send_line("GET k") == b"v"
    assert server.logged() == []


def test_many_keys_go_over_one_connection_without_the_missing_ones(server, peer):
    server.send_line("MSET a 1 b 2 c 3")
    peer.answers = [b"+OK"] * 4
    migrate(server, peer, "", 0, 1000, "KEYS", "a", "nosuch", "b", "c")
    peer.stop()
    assert [words[1] for words in peer.commands[1:]] == [b"a", b"b", b"c"]


def test_the_remaining_ttl_is_sent(server, peer):
    server.send_line("SET k v PX 5000")
    server.advance(1000)
    peer.answers = [b"+OK", b"+OK"]
    migrate(server, peer, "k", 0, 1000)
    peer.stop()
    assert octets.int64_of(peer.commands[1][2]) == 4000


def test_a_key_with_no_ttl_left_is_sent_with_a_millisecond(server, peer):
    server.send_line("SET k v PX 5000")
    server.advance(5000)
    peer.answers = [b"+OK", b"+OK"]
    migrate(server, peer, "k", 0, 1000)
    peer.stop()
    assert peer.commands[1][2] == b"1"


@pytest.mark.parametrize(
    ("options", "login"),
    [(("AUTH", "pw"), [b"AUTH", b"pw"]), (("AUTH2", "me", "pw"), [b"AUTH", b"me", b"pw"])],
)
def test_auth_is_sent_first(server, peer, options, login):
    server.send_line("SET k v")
    peer.answers = [b"+OK"] * 3
    assert migrate(server, peer, "k", 0, 1000, *options) == b"OK"
    peer.stop()
    assert [words[0] for words in peer.commands] == [b"AUTH", b"SELECT", b"RESTORE"]
    assert peer.commands[0] == login


def test_large_values_arrive_whole(server, peer):
    server.send("SET", "a", b"\x00" * 70_000 + bytes(range(256)) * 300)
    server.send("SET", "b", "x" * 200_000)
    dumps = [server.send_line("DUMP a"), server.send_line("DUMP b")]
    peer.answers = [b"+OK"] * 3
    assert migrate(server, peer, "", 0, 1000, "KEYS", "a", "b") == b"OK"
    peer.stop()
    assert [words[3] for words in peer.commands[1:]] == dumps


# ---------------------------------------------------------------------- errors of the other server


def test_only_the_keys_that_the_other_server_took_are_deleted(server, peer):
    server.send_line("MSET a 1 b 2 c 3")
    server.logged()
    peer.answers = [b"+OK", b"+OK", b"-BUSYKEY taken", b"+OK"]
    answer = migrate(server, peer, "", 0, 1000, "KEYS", "a", "b", "c")
    assert answer == "-ERR Target instance replied with error: BUSYKEY taken"
    assert server.send_line("MGET a b c") == [None, b"2", None]
    assert server.logged() == [b"DEL a c"]


@pytest.mark.parametrize("answers", [[b"-NOAUTH no", b"+OK"], [b"+OK", b"-ERR DB index"]])
def test_no_key_is_sent_if_auth_or_select_is_refused(server, peer, answers):
    server.send_line("SET k v")
    peer.answers = list(answers)
    assert migrate(server, peer, "k", 99, 1000, "AUTH", "pw").startswith("-ERR Target instance")
    peer.stop()
    assert [words[0] for words in peer.commands] == [b"AUTH", b"SELECT"]
    assert server.send_line("GET k") == b"v"


# ---------------------------------------------------------------------- failures


def test_a_refused_connection_is_an_ioerr(server):
    server.send_line("SET k v")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    answer = server.send("MIGRATE", "127.0.0.1", port, "k", 0, 1000)
    assert answer == "-IOERR error or timeout connecting to the client"
    assert server.send_line("GET k") == b"v"


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", "http"), ("127.0.0.1", "99999"), ("..", "6379"), ("", "6379")]
)
def test_a_bad_address_is_an_ioerr(server, host, port):
    server.send_line("SET k v")
    answer = server.send("MIGRATE", host, port, "k", 0, 1000)
    assert answer == "-IOERR error or timeout connecting to the client"


def test_only_acknowledged_keys_are_deleted_if_the_other_server_disconnects(server, peer):
    server.send_line("MSET a 1 b 2")
    peer.answers = [b"+OK", b"+OK"]
    answer = migrate(server, peer, "", 0, 1000, "KEYS", "a", "b")
    assert answer == "-IOERR error or timeout reading to target instance"
    assert server.send_line("MGET a b") == [None, b"2"]


def test_a_server_that_does_not_answer_times_out(server):
    server.send_line("SET k v")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answer = server.send("MIGRATE", "127.0.0.1", listener.getsockname()[1], "k", 0, 10)
    assert answer == "-IOERR error or timeout reading to target instance"
    assert server.send_line("GET k") == b"v"


def test_a_missing_key_is_answered_without_a_connection(server):
    assert server.send_line("MIGRATE 127.0.0.1 1 nosuch 0 1000") == b"NOKEY"
