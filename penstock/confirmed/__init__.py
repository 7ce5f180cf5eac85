"""Writes that replicas confirm, and reads of one's own writes on a replica, with redis-py.

    primary = redis.Redis(redis_connect_func=with_acks("quorum"))
    primary.xadd("orders", {"n": 1})                # a quorum of the replicas has it, or an error

    seen = offset_of(primary)
    await_offset(replica, seen, timeout_ms=500)     # raises Behind
    replica.xrange("orders")                        # has it

For asyncio, ``penstock.confirmed.asyncio`` has the same. docs/confirmed-writes.md says what is
promised.

    words.py      what is said to the server
    threads.py    with redis.Redis
    asyncio.py    with redis.asyncio.Redis
"""

from penstock.confirmed.threads import await_offset, offset_of, with_acks
from penstock.confirmed.words import Behind, Offset, is_unconfirmed

__all__ = ["Behind", "Offset", "await_offset", "is_unconfirmed", "offset_of", "with_acks"]
