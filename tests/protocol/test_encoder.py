"""Encoder: replies in RESP2 and RESP3; hiredis reads them back."""

from __future__ import annotations

import enum
import math
import tracemalloc
from collections.abc import Iterator
from typing import Any

import hiredis
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protocol.encoder import Encoder, double_text
from protocol.replies import (
    NO_REPLY,
    NULL_ARRAY,
    OK,
    BigNumber,
    ErrorReply,
    Pairs,
    Push,
    Reply,
    Set,
    Status,
    Verbatim,
)
from tests.worth import COMPILED, rounds

INT64 = st.integers(-(2**63), 2**63 - 1)


def encoded(reply: Reply, resp: int = 2) -> bytes:
    encoder = Encoder(resp)
    encoder.write(reply)
    return encoder.take()


def read(wire: bytes) -> list[Any]:
    """All replies in *wire*."""
    reader = hiredis.Reader(notEnoughData=Ellipsis)
    reader.feed(wire)
    replies = []
    while (reply := reader.gets()) is not Ellipsis:
        replies.append(reply)
    return replies


# ---------------------------------------------------------------------- each type


@pytest.mark.parametrize(
    ("reply", "resp2", "resp3"),
    [
        (b"", b"$0||", None),
        (b"a\r\nb", b"$4|a|b|", None),
        (b"x" * 100, b"$100|" + b"x" * 100 + b"\r\n", None),
        (0, b":0|", None),
        (-1, b":-1|", None),
        (10, b":10|", None),
        (2**63 - 1, b":9223372036854775807|", None),
        (-(2**63), b":-9223372036854775808|", None),
        (OK, b"+OK|", None),
        (None, b"$-1|", b"_|"),
        (NULL_ARRAY, b"*-1|", b"_|"),
        (NO_REPLY, b"", None),
        ([], b"*0|", None),
        ((1, [b"a", None]), b"*2|:1|*2|$1|a|$-1|", b"*2|:1|*2|$1|a|_|"),
        ({b"a": 1, b"b": 2}, b"*4|$1|a|:1|$1|b|:2|", b"%2|$1|a|:1|$1|b|:2|"),
        (Pairs({b"a": [1]}), b"*1|*2|$1|a|*1|:1|", b"%1|$1|a|*1|:1|"),
        (Set([b"a", 2]), b"*2|$1|a|:2|", b"~2|$1|a|:2|"),
        (Push([b"message", b"c"]), b"*2|$7|message|$1|c|", b">2|$7|message|$1|c|"),
        (True, b":1|", b"#t|"),
        (False, b":0|", b"#f|"),
        (3.0, b"$1|3|", b",3|"),
        (BigNumber(2**64), b"$20|18446744073709551616|", b"(18446744073709551616|"),
        (Verbatim(b"hi\r\n"), b"$4|hi||", b"=8|txt:hi||"),
        (Verbatim(b"#", b"mkd"), b"$1|#|", b"=5|mkd:#|"),
        (ErrorReply("ERR", "no"), b"-ERR no|", None),
        ([ErrorReply("ERR", "no"), OK], b"*2|-ERR no|+OK|", None),
    ],
)  # fmt: skip
def test_bytes_of_each_type(reply: Reply, resp2: bytes, resp3: bytes | None) -> None:
    """A ``|`` stands for CRLF. Where resp3 is None, RESP3 has the same bytes as RESP2."""
    assert encoded(reply, 2) == resp2.replace(b"|", b"\r\n")
    assert encoded(reply, 3) == (resp3 or resp2).replace(b"|", b"\r\n")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.inf, b"inf"),
        (-math.inf, b"-inf"),
        (math.nan, b"nan"),
        (0.0, b"0"),
        (-0.0, b"-0"),
        (3.1, b"3.1"),
        (-1.5, b"-1.5"),
        (0.1 + 0.2, b"0.30000000000000004"),
        (100.0, b"100"),
        (1e15, b"1000000000000000"),
        (1e6 + 0.5, b"1000000.5"),
        (1e16, b"10000000000000000"),
        (12345678901234567.0, b"12345678901234568"),
        (-(2.0**62), b"-4611686018427387904"),
        (2.0**63, b"9223372036854776000"),
        (9e18, b"9e+18"),
        (1e20, b"1e+20"),
        (1e100, b"1e+100"),
        (1.5e-5, b"0.000015"),
        (1.25e-5, b"1.25e-5"),
        (1e-7, b"1e-7"),
        (1.5e-300, b"1.5e-300"),
        (1.7976931348623157e308, b"1.7976931348623157e+308"),
    ],
)
def test_a_double_is_written_as_its_shortest_text(value: float, text: bytes) -> None:
    assert double_text(value) == text


@settings(max_examples=rounds(200))
@given(st.floats(allow_nan=False))
def test_the_text_of_a_double_is_read_back_exactly(value: float) -> None:
    assert float(double_text(value)) == value


class Level(enum.IntEnum):
    LOW = 1


class Name(bytes):
    """A subclass, as a library could have one."""


class Row(tuple[int, ...]):
    __slots__ = ()


@pytest.mark.parametrize(
    ("reply", "wire"),
    [
        (Level.LOW, b":1\r\n"),
        (Name(b"a"), b"$1\r\na\r\n"),
        (bytearray(b"a"), b"$1\r\na\r\n"),
        (Row([1]), b"*1\r\n:1\r\n"),
    ],
)
def test_subclasses_are_written_like_their_base_class(reply: Reply, wire: bytes) -> None:
    assert encoded(reply) == wire


@pytest.mark.parametrize("reply", ["text", object(), {1, 2}, [b"a", "text"]])
def test_a_value_without_resp_type_is_refused(reply: Any) -> None:
    with pytest.raises(TypeError, match="no RESP type"):
        encoded(reply)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_an_integer_beyond_64_bits_is_refused(number: int) -> None:
    encoder = Encoder()
    with pytest.raises(OverflowError):
        encoder.write(number)
    assert encoder.take() == b""


# ---------------------------------------------------------------------- line ends


@pytest.mark.parametrize("text", ["a\r\nb", "\n", "x\r", "\r\n+OK\r\n"])
def test_errors_and_statuses_contain_no_line_end(text: str) -> None:
    """Otherwise a client could forge replies with text that the server repeats."""
    for reply in (ErrorReply("ERR", text), Status(text.encode())):
        wire = encoded(reply)
        assert wire.endswith(b"\r\n")
        assert b"\r" not in wire[:-2]
        assert b"\n" not in wire[:-2]
    encoder = Encoder()
    encoder.status(text.encode())
    assert encoder.take() == encoded(Status(text.encode()))


def test_line_ends_become_blanks() -> None:
    assert encoded(ErrorReply("ERR", "a\r\nb")) == b"-ERR a  b\r\n"


def test_a_client_s_bytes_are_unchanged_in_an_error() -> None:
    text = b"unknown command '\xff\xc3\xa9'".decode("utf-8", "surrogateescape")
    assert encoded(ErrorReply("ERR", text)) == b"-ERR unknown command '\xff\xc3\xa9'\r\n"


# ---------------------------------------------------------------------- replies read back

SCALARS = (
    st.binary(max_size=50)
    | INT64
    | st.none()
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.integers(2**63, 2**90).map(BigNumber)
    | st.text("abc ", max_size=9).map(lambda text: Status(text.encode()))
    | st.text("abc ", max_size=9).map(lambda text: Verbatim(text.encode()))
)
KEYS = st.binary(max_size=9)
REPLIES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4).map(Pairs)
        | st.sets(KEYS, max_size=4).map(Set)
    ),
    max_leaves=20,
)


def as_read(reply: Any, resp: int) -> Any:
    """*reply* as hiredis must read it: a set as a list, and a big number as its text."""
    if isinstance(reply, Status):
        return reply.line[1:-2]
    if isinstance(reply, Verbatim):
        return reply.text
    if isinstance(reply, float) and resp == 2:
        return double_text(reply)
    if isinstance(reply, BigNumber):
        return b"%d" % reply
    if isinstance(reply, (list, tuple)):
        return [as_read(item, resp) for item in reply]
    if isinstance(reply, dict):
        items = [(key, as_read(value, resp)) for key, value in reply.items()]
        if resp == 3:
            return dict(items)
        return (
            [list(i) for i in items] if isinstance(reply, Pairs) else [x for i in items for x in i]
        )
    return reply


@settings(max_examples=rounds(200))
@given(st.lists(REPLIES, max_size=5))
def test_hiredis_reads_back_random_replies(replies: list[Reply]) -> None:
    for resp in (2, 3):
        encoder = Encoder(resp)
        for reply in replies:
            encoder.write(reply)
        assert read(encoder.take()) == [as_read(reply, resp) for reply in replies]


def test_hiredis_distinguishes_pushes_from_replies() -> None:
    (push,) = read(encoded(Push([b"message", b"c", b"hi"]), 3))
    assert isinstance(push, hiredis.PushNotification)
    assert push == [b"message", b"c", b"hi"]


# ---------------------------------------------------------------------- writing directly


@settings(max_examples=rounds(200))
@example(-0.0)
@example(2.0**62)
@example(0.1 + 0.2)
@example(1234567890.123456)
@example(-0.000001)
@given(
    st.floats(allow_nan=False)
    | st.integers(-(2**63), 2**63).map(float)
    | st.builds(lambda digits, scale: digits / 10**scale, INT64, st.integers(0, 20))
)
def test_a_double_is_written_with_that_text_whole_or_not(value: float) -> None:
    text = double_text(value)
    assert encoded(value, 2) == b"$%d\r\n%b\r\n" % (len(text), text)
    assert encoded(value, 3) == b",%b\r\n" % text


@settings(max_examples=rounds(100))
@given(INT64)
def test_bulk_int_writes_the_text_as_a_bulk(number: int) -> None:
    encoder = Encoder()
    encoder.bulk_int(number)
    assert encoder.take() == encoded(b"%d" % number)


@given(st.binary(max_size=300), st.data())
def test_bulk_slice_writes_the_slice_as_a_bulk(source: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source)))
    size = data.draw(st.integers(0, len(source) - start))
    encoder = Encoder()
    encoder.bulk_slice(bytearray(source), start, size)
    assert encoder.take() == encoded(source[start : start + size])


def test_heads_and_nulls_in_both_protocols() -> None:
    for resp, wire in (
        (2, b"*2\r\n*4\r\n$-1\r\n*-1\r\n:5\r\n$1\r\na\r\n+S\r\n-ERR x\r\n:7\r\n"),
        (3, b"*2\r\n%2\r\n_\r\n_\r\n:5\r\n$1\r\na\r\n+S\r\n-ERR x\r\n:7\r\n"),
    ):
        encoder = Encoder(resp)
        encoder.array(2)
        encoder.map(2)
        encoder.null()
        encoder.null_array()
        encoder.integer(5)
        encoder.bulk(b"a")
        encoder.status(b"S")
        encoder.error(ErrorReply("ERR", "x"))
        encoder.raw(b":7\r\n")
        assert encoder.take() == wire


@pytest.mark.parametrize("size", [0, 1, 9, 10, 100, 12345])
def test_the_size_of_an_array_can_be_given_at_its_end(size: int) -> None:
    encoder = Encoder()
    encoder.bulk(b"before")
    mark = encoder.open_array()
    for number in range(size):
        encoder.integer(number)
    encoder.close_array(mark, size)
    encoder.bulk(b"after")
    assert encoder.take() == encoded(b"before") + encoded(list(range(size))) + encoded(b"after")


def test_arrays_of_unknown_size_can_be_nested() -> None:
    encoder = Encoder()
    outer = encoder.open_array()
    for size in (3, 0, 11):
        inner = encoder.open_array()
        for number in range(size):
            encoder.integer(number)
        encoder.close_array(inner, size)
    encoder.close_array(outer, 3)
    assert encoder.take() == encoded([list(range(3)), [], list(range(11))])


def test_an_encoder_inside_a_reply_is_written_as_its_contents() -> None:
    finished = Encoder()
    finished.write([b"a", 1])
    encoder = Encoder()
    encoder.write([finished, b"b", finished])
    assert encoder.take() == encoded([[b"a", 1], b"b", [b"a", 1]])
    assert finished.take() == encoded([b"a", 1])


# ---------------------------------------------------------------------- the buffer


def test_take_empties_the_encoder() -> None:
    encoder = Encoder()
    assert encoder.take() == b""
    encoder.write(1)
    assert len(encoder) == 4
    assert encoder.take() == b":1\r\n"
    assert len(encoder) == 0
    encoder.write(2)
    assert encoder.take() == b":2\r\n"


def test_truncate_drops_what_was_written_since() -> None:
    encoder = Encoder()
    encoder.write(1)
    before = len(encoder)
    with pytest.raises(TypeError):
        encoder.write([1, 2, "not a reply"])  # type: ignore[list-item]
    encoder.truncate(before)
    encoder.truncate(1000)
    encoder.write(3)
    assert encoder.take() == b":1\r\n:3\r\n"


def test_encoders_in_use_at_once_do_not_share_their_bytes() -> None:
    encoders = [Encoder() for _ in range(20)]
    for _ in range(3):
        for number, encoder in enumerate(encoders):
            encoder.write(b"%d" % number * 1000)
        for number, encoder in enumerate(encoders):
            assert encoder.take() == encoded(b"%d" % number * 1000)


def traced_bytes() -> int:
    """Bytes allocated since tracing began."""
    return tracemalloc.get_traced_memory()[0]


@pytest.fixture
def tracing() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("tracing")
def test_emptied_encoders_keep_almost_no_memory() -> None:
    encoders = [Encoder() for _ in range(500)]
    before = traced_bytes()
    for encoder in encoders:
        encoder.write(OK)
    for encoder in encoders:
        encoder.take()
    assert traced_bytes() - before < 550_000  # 128 short buffers are kept for reuse


@pytest.mark.usefixtures("tracing")
def test_the_memory_of_a_huge_reply_is_freed() -> None:
    encoder = Encoder()
    before = traced_bytes()
    encoder.write(b"x" * 10_000_000)
    encoder.take()
    assert traced_bytes() - before < 100_000


def test_replies_of_different_sizes_can_follow_each_other() -> None:
    encoder = Encoder()
    sizes = [0, 1, 4000, 4096, 5000, 100_000, 1, 3_000_000, 1]
    for size in sizes:
        encoder.write(b"x" * size)
    assert read(encoder.take()) == [b"x" * size for size in sizes]
    encoder.write(OK)
    assert encoder.take() == b"+OK\r\n"


def test_the_protocol_version_can_change_between_replies() -> None:
    """As with HELLO 3, whose own reply is already RESP3."""
    encoder = Encoder()
    encoder.write(None)
    encoder.resp = 3
    encoder.write(None)
    assert encoder.take() == b"$-1\r\n_\r\n"


# ---------------------------------------------------------------------- large replies

REFERENCED_SIZE = 64 * 1024  # bytes; values of this size and more are not copied
LONG = b"x" * REFERENCED_SIZE


def test_a_large_value_is_referenced_and_not_copied() -> None:
    encoder = Encoder()
    encoder.write([b"before", LONG, b"behind"])
    pieces = encoder.take_pieces()
    assert any(piece is LONG for piece in pieces)
    assert read(b"".join(pieces)) == [[b"before", LONG, b"behind"]]
    assert (len(encoder), encoder.take(), encoder.take_pieces()) == (0, b"", [])


@pytest.mark.usefixtures("tracing")
def test_a_reply_of_large_values_takes_almost_no_memory() -> None:
    values = [bytes(10_000_000)] * 100
    encoder = Encoder()
    before = traced_bytes()
    encoder.write([*values])
    assert len(encoder) > 1_000_000_000
    assert traced_bytes() - before < 100_000


@pytest.mark.usefixtures("tracing")
def test_a_reply_of_small_values_takes_about_its_size_in_memory() -> None:
    encoder = Encoder()
    before = traced_bytes()
    for _ in range(20_000):
        encoder.bulk(LONG[:1000])
    size = len(encoder)
    pieces = encoder.take_pieces()
    assert traced_bytes() - before < size * 1.15
    assert sum(map(len, pieces)) == size


sizes = st.sampled_from(
    [0, 1, 100, 5000, REFERENCED_SIZE - 1, REFERENCED_SIZE, 3 * REFERENCED_SIZE]
)


@settings(deadline=None)
@given(
    st.lists(st.lists(sizes, max_size=12), max_size=6),
    st.booleans(),
    st.integers(0, 20 * REFERENCED_SIZE),
)
def test_nested_encoders_keep_bytes_and_order(
    groups: list[list[int]], moved: bool, cut: int
) -> None:
    """With arrays of unknown size that begin and end anywhere, and parts appended or moved."""
    encoder = Encoder()
    expected = b""
    for group in groups:
        inner = Encoder()
        mark = inner.open_array()
        for size in group:
            inner.bulk(LONG * 3 if size == 3 * REFERENCED_SIZE else LONG[:size])
        inner.close_array(mark, len(group))
        assert len(inner) == len(encoded([b"x" * size for size in group]))
        outer = encoder.open_array()
        encoder.move(inner) if moved else encoder.append(inner)
        assert (len(inner) == 0) == moved
        encoder.close_array(outer, 1)
        expected += encoded([[b"x" * size for size in group]])
    assert len(encoder) == len(expected)
    encoder.truncate(cut)
    assert len(encoder) == min(cut, len(expected))
    encoder.integer(7)
    assert encoder.take() == expected[:cut] + b":7\r\n"


def encoder_with_limit(limit: int) -> Encoder:
    encoder = Encoder()
    encoder.limit = limit
    return encoder


@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("size", [10, 5000, REFERENCED_SIZE, 10 * REFERENCED_SIZE])
def test_a_reply_beyond_the_limit_is_dropped_while_it_grows(size: int) -> None:
    before = traced_bytes()
    encoder = encoder_with_limit(2_000_000)
    most = 0
    value = bytes(size)
    mark = encoder.open_array()
    for _ in range(0, max(4_000_000, rounds(10_000_000)), size + 6):
        encoder.bulk(value)
        most = max(most, traced_bytes() - before)
    encoder.close_array(mark, 3)
    assert encoder.overflown
    assert most < 3_500_000
    assert traced_bytes() - before < 1_200_000
    assert len(encoder) < 1_200_000


def test_a_reply_below_the_limit_is_complete() -> None:
    encoder = encoder_with_limit(20 * REFERENCED_SIZE)
    encoder.write([LONG] * 19)
    assert not encoder.overflown
    assert read(encoder.take()) == [[LONG] * 19]


def test_an_overflown_part_makes_the_whole_overflown() -> None:
    whole = encoder_with_limit(REFERENCED_SIZE)
    part = whole.another()
    part.bulk(LONG)
    assert part.overflown
    whole.move(part)
    assert whole.overflown
    whole = encoder_with_limit(3 * REFERENCED_SIZE)
    for _ in range(3):
        part = whole.another()
        part.bulk(LONG)
        assert not part.overflown
        whole.append(part)
    assert whole.overflown


@pytest.mark.skipif(not COMPILED, reason="plain Python does not survive failing allocations")
def test_the_length_stays_right_when_close_array_runs_out_of_memory() -> None:
    """Each allocation in turn fails, until none does; len() must equal the size of the pieces."""
    hooks = pytest.importorskip("_testcapi")
    for first in range(50):
        encoder = Encoder()
        encoder.bulk(b"before")
        mark = encoder.open_array()
        encoder.bulk(LONG)
        failed = False
        hooks.set_nomemory(first, first + 1)
        try:
            encoder.close_array(mark, 1)
        except MemoryError:
            failed = True
        finally:
            hooks.remove_mem_hooks()
        assert len(encoder) == sum(map(len, encoder.take_pieces()))
        if not failed:
            assert first
            return
    raise AssertionError


def test_a_shared_piece_is_copied_if_it_is_short_and_referred_to_if_it_is_long() -> None:
    long = b"$70000\r\n" + bytes(70_000) + b"\r\n"
    out = Encoder()
    out.append_shared(b"+short\r\n")
    out.append_shared(long)
    out.append_shared(long)
    out.integer(1)
    assert out.size() == 8 + 2 * len(long) + 4
    pieces = out.take_pieces()
    assert b"".join(pieces) == b"+short\r\n" + long + long + b":1\r\n"
    assert sum(piece is long for piece in pieces) == 2


def test_a_shared_piece_beyond_the_limit_overflows() -> None:
    out = Encoder()
    out.limit = 100_000
    out.append_shared(bytes(70_000))
    out.append_shared(bytes(70_000))
    assert out.overflown
    assert out.size() == 0
