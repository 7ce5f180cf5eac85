"""redis-server logs what tests/propagation/cases.txt says; its append-only file is read."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.compat.connection import Connection, encode
from tests.compat.logging_redis import LoggingRedis
from tests.compat.processes import ServerProcess, bulk
from tests.propagation import cases

CASES = cases.load()


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoggingRedis]:
    server = LoggingRedis(tmp_path_factory.mktemp("redis-aof"))
    yield server
    server.stop()


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_redis_logs_what_the_case_says(case: cases.Case, redis: LoggingRedis) -> None:
    control = redis.server.control
    control.call(b"FLUSHALL")
    redis.log.units()
    clients: dict[str, Connection] = {}
    try:
        for step in case.steps:
            now_ms = time.time_ns() // 1_000_000
            _act(redis.server, clients, step, now_ms)
            logged = list(cases.shown(redis.log.units(), now_ms))
            if step.action != cases.GIVEN:
                assert logged == step.logged[cases.REDIS], step.words
    finally:
        for client in clients.values():
            client.close()


def _act(
    server: ServerProcess, clients: dict[str, Connection], step: cases.Step, now_ms: int
) -> None:
    if step.client not in clients:
        clients[step.client] = Connection(server.port)
    client = clients[step.client]
    if step.action == cases.LATER:
        server.control.call(b"DEBUG", b"SLEEP", b"%f" % (cases.LATER_MS / 1000))
    elif step.action == cases.SEND:
        client.send(encode(step.argv(now_ms)))
        while not _is_blocked(server, client):
            if client.has_reply():
                kind, value = client.reply()
                assert (kind, value) == ("-", b"ERR syntax error"), f"{step.words} does not wait"
                break  # Redis does not know a word of it
    else:
        client.call(*step.argv(now_ms))


def _is_blocked(server: ServerProcess, client: Connection) -> bool:
    listed = server.control.call(b"CLIENT", b"LIST", b"ID", b"%d" % (client.id or 0))
    return b"flags=b" in bulk(listed)
