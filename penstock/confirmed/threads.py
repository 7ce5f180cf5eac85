"""Confirmations and offsets on redis.Redis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.confirmed.words import Offset, acks_words, check_wait, offset_in, wait_words


def with_acks(
    replicas: int | str = "quorum", *, fsync: bool = False, timeout_ms: int | None = None
) -> Callable[..., None]:
    """Redis(redis_connect_func=...): each connection begins by CLIENT ACKS.

    A command that is not confirmed in time raises ResponseError; see is_unconfirmed.
    """
    words = acks_words(replicas, fsync, timeout_ms)

    def connect(connection: Any) -> None:
        connection.on_connect()
        connection.send_command(*words)
        connection.read_response()

    return connect


def offset_of(client: Any) -> Offset:
    """Where the history of *client*'s server ends: all that it has answered so far is before it."""
    return offset_in(client.execute_command("CLIENT OFFSET"))


def await_offset(client: Any, offset: Offset, timeout_ms: int = 1000) -> None:
    """Wait until the server of *client*, a replica, has all before *offset*.

    Raises Behind when time is up, and redis-py's ResponseError if the history went on without it.
    """
    check_wait(client.execute_command(*wait_words(offset, timeout_ms)), offset)
