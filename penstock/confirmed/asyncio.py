"""Confirmations and offsets on redis.asyncio.Redis."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from penstock.confirmed.words import (
    Behind,
    Offset,
    acks_words,
    check_wait,
    is_unconfirmed,
    offset_in,
    wait_words,
)

__all__ = ["Behind", "Offset", "await_offset", "is_unconfirmed", "offset_of", "with_acks"]


def with_acks(
    replicas: int | str = "quorum", *, fsync: bool = False, timeout_ms: int | None = None
) -> Callable[..., Awaitable[None]]:
    """Redis(redis_connect_func=...): each connection begins by CLIENT ACKS.

    A command that is not confirmed in time raises ResponseError; see is_unconfirmed.
    """
    words = acks_words(replicas, fsync, timeout_ms)

    async def connect(connection: Any) -> None:
        await connection.on_connect()
        await connection.send_command(*words)
        await connection.read_response()

    return connect


async def offset_of(client: Any) -> Offset:
    """Where the history of *client*'s server ends: all that it has answered so far is before it."""
    return offset_in(await client.execute_command("CLIENT OFFSET"))


async def await_offset(client: Any, offset: Offset, timeout_ms: int = 1000) -> None:
    """Wait until the server of *client*, a replica, has all before *offset*.

    Raises Behind when time is up, and redis-py's ResponseError if the history went on without it.
    """
    check_wait(await client.execute_command(*wait_words(offset, timeout_ms)), offset)
