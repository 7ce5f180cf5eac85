"""A link: lost connections are made anew, and one that was left in the middle is not used again."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from pyspark_penstock.connection import Server
from pyspark_penstock.errors import ServerError
from pyspark_penstock.link import Link
from pyspark_penstock.options import SERVER, Options
from pyspark_penstock.wire import Wire


def server_of(at: dict[str, str]) -> Server:
    return Server.from_options(Options(at, "a test", SERVER))


def test_work_that_was_broken_off_is_done_on_a_new_connection(
    client: redis.Redis, at: dict[str, str]
) -> None:
    link = Link(server_of(at), "a test")
    tries = []

    def work(wire: Wire) -> Any:
        tries.append(wire)
        if len(tries) == 1:
            wire.close()
        return wire.call("ECHO", "here")

    assert link.persist(work) == b"here"
    assert link.persist(work) == b"here"
    assert len(set(map(id, tries))) == 2
    link.drop()


def test_a_connection_that_was_left_in_the_middle_is_not_used_again(
    client: redis.Redis, at: dict[str, str]
) -> None:
    link = Link(server_of(at), "a test")

    def leave(wire: Wire) -> None:
        wire.ask("ECHO", "nobody hears this")
        raise ServerError("refused")

    with pytest.raises(ServerError, match="refused"):
        link.persist(leave)
    assert link.persist(lambda wire: wire.call("ECHO", "here")) == b"here"
    link.drop()
