"""Typed calls of redis-py, whose own types allow much more than it returns."""

from __future__ import annotations

from typing import Any

import redis


def xrange(client: redis.Redis, stream: str, *bounds: Any, **options: Any) -> list[Any]:
    """The entries of a stream: pairs of an id and a dict of fields."""
    found: list[Any] = client.xrange(stream, *bounds, **options) or []
    return found


def xreadgroup(
    client: redis.Redis, group: Any, consumer: Any, stream: Any, count: int | None = None
) -> Any:
    """The new entries of one stream for a consumer: a list of pairs of a stream and entries."""
    return client.xreadgroup(group, consumer, {stream: ">"}, count)
