"""A line reconnects, and does not reuse a connection left in the middle of a reply."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.line import Line
from pyspark_penstock.connect.links import Links
from pyspark_penstock.errors import ServerError
from pyspark_penstock.options import SERVER, Options


def server_of(at: dict[str, str]) -> Server:
    return Server.from_options(Options(at, "a test", SERVER))


def test_interrupted_work_is_retried_on_a_new_connection(
    client: redis.Redis, at: dict[str, str]
) -> None:
    line = Line(Links(server_of(at), Preference.PRIMARY, "a test"))
    tries = []

    def work(connection: Connection) -> Any:
        tries.append(connection)
        if len(tries) == 1:
            connection.close()
        return connection.call("ECHO", "here")

    assert line.retry(work) == b"here"
    assert line.retry(work) == b"here"
    assert len(set(map(id, tries))) == 2
    line.drop()


def test_a_connection_with_an_unread_reply_is_not_reused(
    client: redis.Redis, at: dict[str, str]
) -> None:
    line = Line(Links(server_of(at), Preference.PRIMARY, "a test"))

    def leave(connection: Connection) -> None:
        connection.ask("ECHO", "this reply is not read")
        raise ServerError("refused")

    with pytest.raises(ServerError, match="refused"):
        line.retry(leave)
    assert line.retry(lambda connection: connection.call("ECHO", "here")) == b"here"
    line.drop()
