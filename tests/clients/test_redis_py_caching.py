"""redis-py's client-side cache is told of changes."""

from __future__ import annotations

from redis import Redis
from redis.cache import CacheConfig


def test_a_cached_value_is_dropped_when_another_client_changes_it(port: int) -> None:
    with (
        Redis(port=port, protocol=3, cache_config=CacheConfig()) as cached,
        Redis(port=port) as other,
    ):
        cached.set("k", "old")
        assert cached.get("k") == b"old"
        assert cached.get_cache().size == 1
        other.set("k", "new")
        assert cached.get("k") == b"new"
        other.flushall()
        assert cached.get("k") is None
