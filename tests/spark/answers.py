"""Replies to XRANGE, built from entries."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from pyspark_penstock.entry_id import LARGEST_PART

Entry = tuple[bytes, list[tuple[bytes, bytes]]]


def answer(entries: Sequence[Entry]) -> bytes:
    """The reply of a server, as bytes."""
    parts = [b"*%d\r\n" % len(entries)]
    for entry_id, fields in entries:
        parts.append(b"*2\r\n" + bulk(entry_id) + b"*%d\r\n" % (2 * len(fields)))
        parts += [bulk(name) + bulk(value) for name, value in fields]
    return b"".join(parts)


def bulk(text: bytes) -> bytes:
    return b"$%d\r\n%s\r\n" % (len(text), text)


NASTY = st.sampled_from(
    [
        b"",
        b"\r\n",
        b"$1\r\na\r\n",
        b"\n",
        b"\r",
        b"*2\r\n$3\r\n1-1\r\n*2\r\n",
        b"-ERR x\r\n",
        b"\xff",
    ]
)
VALUES = st.one_of(
    st.binary(max_size=12), NASTY, st.integers(-(2**70), 2**70).map(lambda n: b"%d" % n),
    st.integers(990, 1100).map(lambda n: b"x" * n), st.text(max_size=5).map(str.encode),
)  # fmt: skip
NAMES = st.sampled_from(
    [b"a", b"b", b"temp", b"a long name of a field", b"", b"x\r\ny", b"1234567"]
)
PARTS = st.one_of(st.integers(0, 3), st.integers(0, LARGEST_PART))
IDS = st.lists(st.tuples(PARTS, PARTS), min_size=1, max_size=12, unique=True).map(sorted)
FIELDS = st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=4)


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    """Entries of one stream. In half of the examples all have the same fields."""
    ids = [b"%d-%d" % pair for pair in draw(IDS)]
    if draw(st.booleans()):
        names = draw(st.lists(NAMES, min_size=1, max_size=4))
        return [(i, [(name, draw(VALUES)) for name in names]) for i in ids]
    return [(i, draw(FIELDS)) for i in ids]
