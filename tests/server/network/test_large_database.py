"""Pipelines on a database so large that keys are fetched before they are looked up."""

from __future__ import annotations

import pytest

from storage.keyspace import key_lookups
from tests.server.running import ask, on_each_loop, running
from tests.worth import COMPILED

MANY = 20_000 if COMPILED else 200
FIVE = [7, 8, 9, 7, 5]


GET = b"return redis.call('GET', KEYS[1])"


def get(number: int) -> bytes:
    return b"*2\r\n$3\r\nGET\r\n$6\r\n%06d\r\n" % number


def eval_get(number: int) -> bytes:
    words = (b"EVAL", GET, b"1", b"%06d" % number)
    return b"*4\r\n" + b"".join(map(bulk, words))


def bulk(text: bytes) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(text), text)


@on_each_loop
async def test_a_pipeline_is_answered_as_on_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_lookups, "LARGE", 100, raising=False)
    async with running() as instance:
        database = instance.server.state.databases[0]
        for number in range(MANY):
            database.add(b"%06d" % number, b"%d" % (number * 3))
            if number % 2:
                database.expire_at(b"%06d" % number, 2**60)
        assert database.is_large()
        streams = await instance.connect()
        rest = b"GET %06d\r\n*3\r\n$3\r\nSET\r\n$6\r\n000003\r\n$3\r\nnew\r\n" % (MANY - 1)
        mget = b"MGET" + b"".join(b" %06d" % number for number in range(40)) + b"\r\n"
        request = b"".join(map(get, [*range(40), *FIVE])) + rest + get(3) + mget
        values = [b"%d" % (number * 3) for number in range(40)]
        answer = b"".join(map(bulk, values)) + b"".join(bulk(b"%d" % (n * 3)) for n in FIVE)
        answer += bulk(b"%d" % ((MANY - 1) * 3)) + b"+OK\r\n" + bulk(b"new")
        values[3] = b"new"
        answer += b"*40\r\n" + b"".join(map(bulk, values))
        assert await ask(streams, request, len(answer)) == answer


@on_each_loop
async def test_the_keys_of_scripts_in_a_pipeline_are_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_lookups, "LARGE", 100, raising=False)
    async with running() as instance:
        state = instance.server.state
        for number in range(MANY):
            state.databases[0].add(b"%06d" % number, b"%d" % number)
        streams = await instance.connect()
        request = b"".join(map(eval_get, range(16)))
        answer = b"".join(bulk(b"%d" % number) for number in range(16))
        assert await ask(streams, request, len(answer)) == answer
        assert state.stats.prefetched_keys == 16
