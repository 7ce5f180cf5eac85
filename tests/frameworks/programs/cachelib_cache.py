"""cachelib, Flask's cache: values, many at once, counters, time-outs."""

from __future__ import annotations

import sys

from cachelib import RedisCache
from redis import Redis


def main(url: str) -> None:
    cache = RedisCache(host=Redis.from_url(url), key_prefix="flask:")
    assert cache.set("a", {"x": 1}, timeout=60)
    assert cache.get("a") == {"x": 1}
    assert not cache.add("a", 2)
    assert cache.set_many({"b": 1, "c": 2}) == ["b", "c"]
    assert cache.get_many("b", "c", "d") == [1, 2, None]
    assert cache.inc("n", 3) == 3
    assert cache.dec("n") == 2
    assert cache.has("b")
    assert cache.delete_many("b", "c") == ["b", "c"]
    assert cache.clear()
    assert cache.get("a") is None
    print("values, counters and prefixes are kept and cleared")


if __name__ == "__main__":
    main(sys.argv[1])
