"""walrus: containers of every type, a cache, a consumer group, time series."""

from __future__ import annotations

import sys

from redis import ConnectionPool
from walrus import Database


def main(url: str) -> None:
    db = Database(connection_pool=ConnectionPool.from_url(url))
    table = db.Hash("h")
    table.update(name="x", size="2")
    assert table.as_dict(decode=True) == {"name": "x", "size": "2"}
    assert table.incr("size", 3) == 5
    print("a hash")
    row = db.List("l")
    row.extend(["a", "b", "c"])
    assert row[1] == b"b"
    assert row.popright() == b"c"
    print("a list")
    left, right = db.Set("s"), db.Set("t")
    left.add("a", "b")
    right.add("b", "c")
    assert left & right == {b"b"}
    assert left | right == {b"a", b"b", b"c"}
    print("sets and their intersection")
    scores = db.ZSet("z")
    scores.add({"x": 3, "y": 1, "w": 2})
    assert scores.range(0, -1) == [b"y", b"w", b"x"]
    assert scores.rank("x") == 2
    assert scores.popmin() == [(b"y", 1.0)]
    print("a sorted set")
    seen = db.HyperLogLog("pf")
    seen.add(*"abca")
    assert len(seen) == 3
    print("a HyperLogLog")
    bits = db.bit_field("bf")
    assert bits.incrby("u8", 0, 200).get("u8", 0).execute() == [200, 200]
    print("a bit field")
    group = db.consumer_group("g", ["events"])
    group.create()
    added = group.events.add({"a": "1"})
    assert [entry[0] for entry in group.events.read()] == [added]
    assert group.events.ack(added) == 1
    print("a consumer group")
    cache = db.cache(name="c", default_timeout=60)
    assert cache.set("k", [1, 2])
    assert cache.get("k") == [1, 2]
    print("a cache")


if __name__ == "__main__":
    main(sys.argv[1])
