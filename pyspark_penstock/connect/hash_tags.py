"""Keys beside a stream, in its slot: names with a hash tag."""

from __future__ import annotations

from functools import cache
from itertools import count

from pyspark_penstock.connect.slots import key_slot
from pyspark_penstock.names import key


def tagged(stream: str) -> str:
    """The stream's name as a prefix with a hash tag, which puts a key into the stream's slot.

    No two streams have the same prefix: for ``x`` it is {x}, for ``{x}`` it is {x}. with a dot. No
    tag can hold ``a}b``: the prefix begins with a number whose slot is the same, {20658}a}b!
    """
    has_tag = "{" in stream and "}" in stream[stream.index("{") + 2 :]
    prefix = f"{stream}." if has_tag else f"{{{stream}}}"
    slot = key_slot(key(stream))
    return prefix if key_slot(key(prefix)) == slot else f"{{{number_in(slot)}}}{stream}!"


@cache
def number_in(slot: int) -> int:
    """The smallest number that is a key of this slot."""
    return next(number for number in count() if key_slot(str(number).encode()) == slot)
