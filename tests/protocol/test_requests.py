"""Every request form and every refusal, whole and cut anywhere."""

from __future__ import annotations

import itertools
import os
import tracemalloc
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.encoder import Encoder
from protocol.requests import ProtocolError, RequestParser, know_names

COMPILED = not os.environ.get("PENSTOCK_UNCOMPILED")
Outcome = tuple[list[list[bytes]], str | None]  # the commands, and the error after them

PING = b"*1\r\n$4\r\nPING\r\n"

# What was sent, the commands in it. Seen on redis 7.0.15, unless noted.
COMMANDS: dict[str, tuple[bytes, list[list[bytes]]]] = {
    "one word": (PING, [[b"PING"]]),
    "some words": (b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nvv\r\n", [[b"SET", b"k", b"vv"]]),
    "pipelined": (PING * 3, [[b"PING"]] * 3),
    "an empty word": (b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", [[b"ECHO", b""]]),
    "an empty name": (b"*1\r\n$0\r\n\r\n", [[b""]]),
    "line ends in a word": (b"*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n", [[b"ECHO", b"\r\n\r\n"]]),
    "two-digit lengths": (b"*1\r\n$12\r\nabcdefghijkl\r\n", [[b"abcdefghijkl"]]),
    "no words, then some": (b"*0\r\n*-1\r\n*-12345\r\n" + PING, [[b"PING"]]),
    "what stands for LF in a head": (b"*1\rX$4\rYPING\r\n", [[b"PING"]]),
    "what stands for CRLF after a word": (b"*1\r\n$4\r\nPINGxx" + PING, [[b"PING"], [b"PING"]]),
    "inline": (b"PING\r\n", [[b"PING"]]),
    "inline with LF only": (b"PING\nPING\n", [[b"PING"], [b"PING"]]),
    "inline with two CRs": (b"PING\r\r\n", [[b"PING"]]),
    "inline with blanks": (b" \tECHO \t a  \r\n", [[b"ECHO", b"a"]]),
    "inline with quotes": (b"SET 'a b' \"\\x41\\n\"\r\n", [[b"SET", b"a b", b"A\n"]]),
    "inline with an empty word": (b"ECHO ''\r\n", [[b"ECHO", b""]]),
    "inline of more words than strangers may count": (b"a " * 20 + b"\n", [[b"a"] * 20]),
    "empty lines": (b"\r\n\n \r\n" + PING, [[b"PING"]]),
    "inline and multibulk": (b"PING\r\n" + PING + b"PING\n", [[b"PING"]] * 3),
    "HTTP": (b"POST / HTTP/1.1\r\nHost: x\r\n", [[b"POST", b"/", b"HTTP/1.1"], [b"Host:", b"x"]]),
}

# What was sent and is refused. The answers of redis 7.0.15.
REFUSED: dict[str, tuple[bytes, str]] = {
    "a count that is no number": (b"*x\r\n", "invalid multibulk length"),
    "no count": (b"*\r\n", "invalid multibulk length"),
    "a blank before the count": (b"* 1\r\n", "invalid multibulk length"),
    "a plus before the count": (b"*+1\r\n", "invalid multibulk length"),
    "a leading zero": (b"*01\r\n", "invalid multibulk length"),
    "minus zero": (b"*-0\r\n", "invalid multibulk length"),
    "a negative leading zero": (b"*-01\r\n", "invalid multibulk length"),
    "a lone minus": (b"*-\r\n", "invalid multibulk length"),
    "a count of 2^31": (b"*2147483648\r\n", "invalid multibulk length"),
    "a count beyond 64 bits": (b"*99999999999999999999\r\n", "invalid multibulk length"),
    "a count of 10 digits and a letter": (b"*1234567890x\r\n", "invalid multibulk length"),
    "a negative length": (b"*1\r\n$-1\r\n", "invalid bulk length"),
    "a length that is no number": (b"*1\r\n$x\r\n", "invalid bulk length"),
    "no length": (b"*1\r\n$\r\n", "invalid bulk length"),
    "a length with a leading zero": (b"*1\r\n$04\r\nPING\r\n", "invalid bulk length"),
    "a length over 512 MB": (b"*1\r\n$536870913\r\n", "invalid bulk length"),
    "a length beyond 64 bits": (b"*1\r\n$18446744073709551620\r\n", "invalid bulk length"),
    "no dollar": (b"*1\r\nPING\r\n", "expected '$', got 'P'"),
    "an integer for a word": (b"*1\r\n:4\r\nPING\r\n", "expected '$', got ':'"),
    "a CR for the dollar": (b"*1\r\n\r\n", "expected '$', got ' '"),
    "an LF for the dollar": (b"*1\r\n\n\r\n", "expected '$', got ' '"),
    "a control character for the dollar": (b"*1\r\n\x01\r\n", "expected '$', got '\x01'"),
    "a byte above ASCII for the dollar": (b"*1\r\n\xff\r\n", "expected '$', got '\udcff'"),
    "a word that is longer than it says": (b"*2\r\n$1\r\nabcd\r\n", "expected '$', got 'd'"),
    "an open double quote": (b'PING "a\r\n', "unbalanced quotes in request"),
    "an open single quote": (b"PING 'a\r\n", "unbalanced quotes in request"),
    "text behind a quote": (b'PING "a"b\r\n', "unbalanced quotes in request"),
}

# Longer ones: not cut at every place.
TOO_LONG: dict[str, tuple[bytes, str]] = {
    "a count": (b"*" + b"1" * 65536, "too big mbulk count string"),
    "a length": (b"*1\r\n$" + b"1" * 65536, "too big bulk count string"),
    "an inline command": (b"x" * 65537, "too big inline request"),
    "an inline command with a NUL": (b"\0\r\n" + b"\n" * 65534, "too big inline request"),
    "an inline command with a NUL in it": (b"a\0b\r\n" + b"\n" * 65532, "too big inline request"),
}


def outcome(pieces: Iterable[bytes], parser: RequestParser | None = None) -> Outcome:
    """What comes out when *pieces* are fed one by one."""
    parser = parser or RequestParser()
    commands: list[list[bytes]] = []
    try:
        for piece in pieces:
            parser.feed(piece)
            while (argv := parser.take()) is not None:
                commands.append(argv)
    except ProtocolError as error:
        return commands, str(error)
    return commands, None


def byte_by_byte(wire: bytes) -> list[bytes]:
    return [wire[i : i + 1] for i in range(len(wire))]


def cuts(wire: bytes) -> Iterable[list[bytes]]:
    """*wire* whole, byte by byte, and cut once at every place."""
    yield [wire]
    yield byte_by_byte(wire)
    for at in range(1, len(wire)):
        yield [wire[:at], wire[at:]]


def packed(argv: list[bytes]) -> bytes:
    return b"*%d\r\n" % len(argv) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in argv)


def stranger() -> RequestParser:
    parser = RequestParser()
    parser.authenticated = False
    return parser


# ---------------------------------------------------------------------- cases


@pytest.mark.parametrize("new_parser", [RequestParser, stranger])
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_come_out_however_they_are_cut(
    name: str, new_parser: Callable[[], RequestParser]
) -> None:
    wire, commands = COMMANDS[name]
    for pieces in cuts(wire):
        assert outcome(pieces, new_parser()) == (commands, None), pieces


@pytest.mark.parametrize("name", COMMANDS)
def test_the_start_of_what_follows_changes_nothing(name: str) -> None:
    wire, commands = COMMANDS[name]
    for rest in (b"*", b"*3\r\n$3\r\nSET\r\n", b"*1\r\n$5\r\nab", b"PI"):
        assert outcome([wire + rest]) == (commands, None)
        assert outcome([wire + rest, b"", b""]) == (commands, None)


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_have_their_text_however_they_are_cut(name: str) -> None:
    wire, error = REFUSED[name]
    for pieces in cuts(wire):
        commands, got = outcome(pieces)
        assert got == error, pieces
        assert commands == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_came_before_a_refusal_is_delivered_and_nothing_after_it(name: str) -> None:
    wire, error = REFUSED[name]
    for pieces in ([PING + wire + PING], [PING, wire, PING], byte_by_byte(PING + wire + PING)):
        assert outcome(pieces) == ([[b"PING"]], error)


@pytest.mark.parametrize("name", TOO_LONG)
def test_a_line_without_end_is_refused_after_64_kb(name: str) -> None:
    wire, error = TOO_LONG[name]
    assert outcome([wire]) == ([], error)
    assert outcome([wire[:-1]]) == ([], None)
    assert outcome([wire[:40000], wire[40000:-1], wire[-1:]]) == ([], error)
    assert outcome([wire + b"\r\n"]) == ([], error)  # the line's end comes too late


def test_a_line_of_64_kb_is_read() -> None:
    word = b"x" * 65535
    for pieces in ([word + b"\r\n"], [word, b"\r\n"], [word + b"\r", b"\n"]):
        assert outcome(pieces) == ([[word]], None)


def test_after_a_refusal_the_parser_is_dead() -> None:
    parser = RequestParser()
    assert outcome([b"*x\r\n"], parser) == ([], "invalid multibulk length")
    assert outcome([PING, b"*x\r\n"], parser) == ([], None)
    assert parser.buffered() == 0


# ---------------------------------------------------------------------- limits


def test_a_word_of_exactly_max_bulk_is_taken() -> None:
    for pieces in cuts(b"*1\r\n$5\r\nabcde\r\n"):
        parser = RequestParser()
        parser.max_bulk = 5
        assert outcome(pieces, parser) == ([[b"abcde"]], None)
        parser.max_bulk = 4
        assert outcome(pieces, parser) == ([], "invalid bulk length")


def test_the_largest_limits_do_not_overflow() -> None:
    parser = RequestParser()
    parser.max_bulk = parser.max_buffered = 2**63 - 1
    assert outcome([b"*1\r\n$999999999999999999\r\nabc"], parser) == ([], None)
    assert not parser.overfull()
    assert outcome([b"*1\r\n$9223372036854775807\r\nabc"])[1] == "invalid bulk length"


@pytest.mark.parametrize(
    ("wire", "error"),
    [
        (b"*10\r\n", None),
        (b"*11\r\n", "unauthenticated multibulk length"),
        (b"*2147483648\r\n", "invalid multibulk length"),
        (b"*1\r\n$16384\r\n", None),
        (b"*1\r\n$16385\r\n", "unauthenticated bulk length"),
        (b"*1\r\n$536870913\r\n", "invalid bulk length"),
        (packed([b"a"] * 11), "unauthenticated multibulk length"),
        (packed([b"a" * 16385]), "unauthenticated bulk length"),
    ],
)
def test_strangers_get_narrower_limits(wire: bytes, error: str | None) -> None:
    assert outcome([wire], stranger()) == ([], error)
    assert outcome(byte_by_byte(wire), stranger()) == ([], error)


def test_the_narrow_limits_end_with_authentication_in_the_midst_of_a_batch() -> None:
    parser = stranger()
    parser.feed(packed([b"AUTH", b"pw"]) + packed([b"DEL"] + [b"k"] * 20))
    assert parser.take() == [b"AUTH", b"pw"]
    parser.authenticated = True
    assert parser.take() == [b"DEL"] + [b"k"] * 20


@pytest.mark.parametrize("wire", [b"*2147483647\r\n", b"*2147483647\r\n$536870912\r\nabc"])
def test_what_is_announced_reserves_nothing(wire: bytes) -> None:
    parser = RequestParser()
    tracemalloc.start()
    try:
        assert outcome([wire[:9], wire[9:]], parser) == ([], None)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * 1024


# ---------------------------------------------------------------------- what is held


def test_nothing_is_held_between_commands() -> None:
    parser = RequestParser()
    outcome([PING * 2, b"\r\n", b"PING\n"], parser)
    assert parser.buffered() == 0


def test_buffered_counts_what_has_not_been_taken() -> None:
    parser = RequestParser()
    parser.feed(PING)
    parser.feed(PING)
    assert parser.buffered() == 2 * len(PING)
    parser.take()
    assert parser.buffered() == len(PING)


def test_buffered_counts_the_words_of_an_unfinished_command() -> None:
    parser = RequestParser()
    outcome([b"*100\r\n", b"$1000\r\n%b\r\n" % (b"x" * 1000) * 50], parser)
    assert 50 * 1000 <= parser.buffered() < 50 * 1100
    outcome([b"$1\r\nx\r\n" * 50], parser)
    assert parser.buffered() == 0


def test_more_than_max_buffered_is_overfull() -> None:
    parser = RequestParser()
    parser.max_buffered = 20
    parser.feed(b"*1\r\n$100\r\n" + b"x" * 10)
    assert not parser.overfull()
    parser.feed(b"x")
    assert parser.overfull()


def test_strangers_are_overfull_beyond_1_mb() -> None:
    parser = stranger()
    parser.feed(b"x" * 1024 * 1024)
    assert not parser.overfull()
    parser.feed(b"x")
    assert parser.overfull()
    parser.authenticated = True
    assert not parser.overfull()


def test_a_finished_long_word_is_not_kept_for_the_sake_of_the_rest() -> None:
    parser = RequestParser()
    long = packed([b"x" * 1_000_000])
    tracemalloc.start()
    try:
        outcome([long[:500_000], long[500_000:] + b"*"], parser)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert parser.buffered() == 1
    assert held < 16 * 1024


@pytest.mark.parametrize("step", [1000, 16384, 65536, 99_991])
def test_long_words_come_in_pieces(step: int) -> None:
    words = [bytes([65 + i]) * (100_000 + i) for i in range(5)]
    wire = packed(words) + PING + packed(words[:1])
    pieces = [wire[i : i + step] for i in range(0, len(wire), step)]
    assert outcome(pieces) == ([words, [b"PING"], words[:1]], None)


def test_a_word_that_comes_again_in_its_place_is_the_same_object() -> None:
    parser = RequestParser()
    parser.feed(
        packed([b"XADD", b"orders", b"*", b"item", b"tea"])
        + packed([b"XADD", b"orders", b"*", b"size", b"tea", b"more", b"x"])
        + packed([b"XADD", b"order", b"*", b"size", b"tee"])
    )
    first, second, third = parser.take(), parser.take(), parser.take()
    assert first and second and third
    assert second == [b"XADD", b"orders", b"*", b"size", b"tea", b"more", b"x"]
    assert third == [b"XADD", b"order", b"*", b"size", b"tee"]
    assert [a is b for a, b in zip(first, second, strict=False)] == [True, True, True, False, True]
    assert [a is b for a, b in zip(second, third, strict=False)] == [True, False, True, True, False]


def test_the_name_of_a_command_that_has_come_before_is_the_same_object_for_all_clients() -> None:
    def taken(*words: bytes) -> list[bytes]:
        parser = RequestParser()
        parser.feed(packed(list(words)))
        argv = parser.take()
        assert argv == list(words)
        return argv

    name = taken(b"XAUTOCLAIM", b"orders")[0]
    assert taken(b"XAUTOCLAIM", b"orders")[0] is name
    assert taken(b"XAUTO_____IM")[0] is not name
    assert taken(b"n" * 16)[0] is taken(b"n" * 16)[0]
    assert taken(b"n" * 17)[0] is not taken(b"n" * 17)[0]


def test_known_names_are_the_objects_that_come_out() -> None:
    names = [bytes([*b"XGROUP"]), bytes([*b"get"]), b"g", b"n" * 17]
    know_names(names)
    parser = RequestParser()
    parser.feed(b"".join(packed([name, b"a"]) for name in names))
    taken = [argv[0] for argv in iter(parser.take, None)]
    assert taken == names
    assert [a is b for a, b in zip(taken, names, strict=True)][:2] == [True, True]


@settings(max_examples=50)
@given(st.lists(st.binary(min_size=1, max_size=17), min_size=1, max_size=2000))
def test_however_many_names_come_each_is_its_own(names: list[bytes]) -> None:
    wire = b"".join(packed([name]) for name in names)
    assert outcome([wire]) == ([[name] for name in names], None)


@pytest.mark.parametrize("behind", [b"", b"*", b"*1\r\n$4\r\nPI"])
def test_words_are_not_kept_when_all_that_has_come_is_taken(behind: bytes) -> None:
    parser = RequestParser()
    wire = packed([b"ECHO", b"x" * 1_000_000]) + packed([b"ECHO", b"y" * 1_000_000]) + behind
    tracemalloc.start()
    try:
        outcome([wire], parser)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 16 * 1024


def test_much_may_be_fed_before_anything_is_taken() -> None:
    """As to a client that is blocked: what it pipelines waits its turn, in order."""
    commands = [[b"ECHO", b"%d" % i] for i in range(20_000)] + [[b"SET", b"k", b"x" * 100_000]]
    wire = b"".join(map(packed, commands))
    parser = RequestParser()
    for i in range(0, len(wire), 5000):
        parser.feed(wire[i : i + 5000])
    assert parser.buffered() == len(wire)
    assert outcome([b""], parser) == (commands, None)


# ---------------------------------------------------------------------- many of a kind

ADD = [b"XADD", b"s", b"*", b"a", b"1"]


def moved_behind(argv: list[bytes], wire: bytes, parser: RequestParser | None = None) -> bytes:
    """What is moved of *wire*, which comes behind *argv*."""
    parser, out = parser or RequestParser(), Encoder()
    parser.feed(packed(argv) + wire)
    assert parser.take() == argv
    count = parser.move_alike(argv, out)
    data = out.take()
    assert count == len(outcome([data])[0])
    return data


def test_all_that_begins_alike_is_moved_as_it_is() -> None:
    others = [[b"XADD", b"t", b"1-1", b"", b"x" * 1000], [b"XADD", b"", b"", b"", b""], ADD]
    wire = b"".join(map(packed, others))
    assert moved_behind(ADD, wire) == wire


@pytest.mark.parametrize(
    "behind",
    [
        packed([b"XADD", b"s", b"*", b"a", b"1", b"b", b"2"]),
        packed([b"xadd", *ADD[1:]]),
        packed([b"EXEC"]),
        packed([b"XADDS", *ADD[1:]]),
        packed(ADD).replace(b"$1\r\n", b"$01\r\n"),
        packed(ADD).replace(b"$1\r\n", b"$-1\r\n"),
        packed(ADD).replace(b"$1\r\n", b"$999999999\r\n"),
        b"XADD s * a 1\r\n",
    ],
)
def test_what_is_not_alike_ends_the_run(behind: bytes) -> None:
    run = packed(ADD) * 3
    assert moved_behind(ADD, run + behind + run) == run


def test_a_command_that_is_not_all_there_stays() -> None:
    wire = packed(ADD)
    for at in range(len(wire)):
        parser = RequestParser()
        assert moved_behind(ADD, wire + wire[:at], parser) == wire
        assert outcome([wire[at:]], parser) == ([ADD], None)


def test_nothing_is_moved_from_strangers_or_out_of_an_unfinished_command() -> None:
    assert moved_behind(ADD, packed(ADD), stranger()) == b""
    parser, out = RequestParser(), Encoder()
    parser.feed(packed(ADD) + b"*5\r\n$4\r\nXADD\r\n" + b"$90\r\n")
    assert outcome([], parser) == ([], None)
    assert parser.take() == ADD
    assert parser.take() is None
    parser.feed(packed(ADD))
    assert parser.move_alike(ADD, out) == 0


def test_a_word_that_may_not_be_so_long_is_not_moved() -> None:
    parser = RequestParser()
    parser.max_bulk = 5
    assert moved_behind(ADD, packed(ADD) + packed([*ADD[:4], b"123456"]), parser) == packed(ADD)
    with pytest.raises(ProtocolError, match="invalid bulk length"):
        parser.take()


# ---------------------------------------------------------------------- any bytes

FRAGMENTS = st.sampled_from(
    [b"*", b"$", b"\r\n", b"\n", b"\r", b"0", b"1", b"2", b"10", b"-1", b"a"]
)
NOISE = st.lists(FRAGMENTS | st.binary(max_size=3) | st.just(PING), max_size=30).map(b"".join)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=5)


def cut_by(wire: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at, turn = [], 0, 0
    while at < len(wire):
        pieces.append(wire[at : at + sizes[turn % len(sizes)]])
        at += len(pieces[-1])
        turn += 1
    return pieces


@settings(max_examples=200)
@given(st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=12), max_size=6), SIZES)
def test_what_is_packed_comes_out_again(commands: list[list[bytes]], sizes: list[int]) -> None:
    wire = b"".join(map(packed, commands))
    assert outcome([wire]) == (commands, None)
    assert outcome(cut_by(wire, sizes)) == (commands, None)


FEW_WORDS = st.sampled_from([b"XADD", b"SET", b"k", b"*", b"", b"val", b"vel", b"value"])


@settings(max_examples=200)
@given(st.lists(st.lists(FEW_WORDS, min_size=1, max_size=5), max_size=8), SIZES)
def test_words_that_come_again_are_no_others(commands: list[list[bytes]], sizes: list[int]) -> None:
    wire = b"".join(map(packed, commands))
    assert outcome([wire]) == (commands, None)
    assert outcome(cut_by(wire, [8 * size for size in sizes])) == (commands, None)


@settings(max_examples=300)
@given(NOISE, SIZES, st.booleans())
def test_any_bytes_give_commands_or_a_protocol_error_however_they_are_cut(
    wire: bytes, sizes: list[int], authenticated: bool
) -> None:
    new = RequestParser if authenticated else stranger
    whole = outcome([wire], new())
    assert outcome(cut_by(wire, sizes), new()) == whole
    assert all(whole[0])


FEW_KINDS = st.lists(
    st.tuples(st.sampled_from([b"XADD", b"SET"]), st.lists(st.binary(max_size=8), max_size=3)).map(
        lambda command: [command[0], *command[1]]
    ),
    max_size=12,
)


@settings(max_examples=200)
@given(FEW_KINDS, st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_runs_that_are_moved_leave_nothing_out(
    commands: list[list[bytes]], sizes: list[int]
) -> None:
    parser, seen = RequestParser(), list[list[bytes]]()
    for piece in cut_by(b"".join(map(packed, commands)), sizes):
        parser.feed(piece)
        while (argv := parser.take()) is not None:
            out = Encoder()
            count = parser.move_alike(argv, out)
            run = outcome([out.take()])[0]
            assert len(run) == count
            assert all((len(each), each[0]) == (len(argv), argv[0]) for each in run)
            seen += [argv, *run]
    assert seen == commands


@pytest.mark.parametrize("line", [b"\0\r\n", b"\0PING\r\n", b"ECHO a\0b\r\n", b'\0"\n', b" \0\n"])
def test_a_line_with_a_nul_was_run_or_refused_but_redis_never_ends_it(line: bytes) -> None:
    parser = RequestParser()
    assert outcome([b"PING\r\n", line, b"PING\r\n" * 1000], parser) == ([[b"PING"]], None)
    assert outcome([b"x" * 65536], parser) == ([], "too big inline request")


@pytest.mark.parametrize("piece", [1000, 64 * 1024, 100_001])
@pytest.mark.parametrize("size", [32 * 1024 - 1, 32 * 1024, 300_000])
def test_long_words_are_put_together_from_any_pieces(piece: int, size: int) -> None:
    words = [b"SET", bytes(range(256)) * (size // 256 + 1), b"between", b"x" * size]
    request = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in words)
    wire = (request + PING) * 3
    parser, taken = RequestParser(), []
    for at in range(0, len(wire), piece):
        parser.feed(wire[at : at + piece])
        while (argv := parser.take()) is not None:
            taken.append(argv)
    assert taken == [words, [b"PING"]] * 3
    assert parser.buffered() == 0


# ---------------------------------------------------------------------- into the parser's buffer


def received(
    wire: bytes, sizes: list[int], parser: RequestParser | None = None
) -> list[list[bytes]]:
    """What comes of *wire* as a transport hands it over: *sizes* bytes a time, in turns."""
    parser = parser or RequestParser()
    commands: list[list[bytes]] = []
    at = 0
    for size in itertools.cycle(sizes):
        if at >= len(wire):
            return commands
        if parser.wants_buffer():
            buffer = parser.get_buffer()
            size = min(size, len(buffer), len(wire) - at)  # noqa: PLW2901  (the socket has no more)
            buffer[:size] = wire[at : at + size]
            parser.buffer_updated(size)
        else:
            parser.feed(wire[at : at + size])
        at += size
        while (argv := parser.take()) is not None:
            commands.append(argv)
    raise AssertionError


long_sizes = st.sampled_from([0, 1, 32767, 32768, 40_000, 200_000])


@settings(deadline=None)
@given(
    st.lists(st.lists(long_sizes, min_size=1, max_size=3), max_size=4),
    st.lists(st.sampled_from([1000, 16_384, 65_536, 99_999]), min_size=1, max_size=4),
)
def test_what_is_received_into_the_buffer_is_what_would_be_fed(
    lengths: list[list[int]], sizes: list[int]
) -> None:
    commands = [
        [bytes([65 + n % 26]) * length for n, length in enumerate(words)] for words in lengths
    ]
    wire = b"".join(map(packed, commands))
    assert received(wire, sizes) == commands


def test_a_long_word_may_be_fed_though_a_buffer_is_wanted() -> None:
    parser = RequestParser()
    word = bytes(range(256)) * 400
    wire = packed([b"SET", b"k", word]) + PING
    parser.feed(wire[:5000])
    assert parser.take() is None
    assert parser.wants_buffer()
    for at in range(5000, len(wire), 7000):
        parser.feed(wire[at : at + 7000])
    assert parser.take() == [b"SET", b"k", word]
    assert not parser.wants_buffer()
    assert parser.take() == [b"PING"]


def test_what_comes_behind_a_long_word_that_is_whole_waits_for_its_turn() -> None:
    """As behind a command that waits: nothing is taken meanwhile."""
    parser = RequestParser()
    word = b"x" * 50_000
    wire = packed([b"ECHO", word])
    parser.feed(wire[:100])
    assert parser.take() is None
    parser.feed(wire[100:] + PING)
    assert not parser.wants_buffer()
    parser.feed(packed([b"GET", b"k"]))
    assert parser.buffered() == len(word) + 2 + len(PING) + len(packed([b"GET", b"k"])) + 52
    assert parser.take() == [b"ECHO", word]
    assert parser.take() == [b"PING"]
    assert parser.take() == [b"GET", b"k"]


def test_the_buffer_grows_with_what_has_come() -> None:
    """What announces 512 MB reserves a multiple of what it has sent, and one read's room."""
    parser = RequestParser()
    parser.feed(b"*1\r\n$536870912\r\nabc")
    assert parser.take() is None
    tracemalloc.start()
    try:
        for sent in (50_000, 1_000_000, 5_000_000):
            while parser.buffered() < sent:
                assert len(parser.get_buffer()) <= 1 << 20
                parser.buffer_updated(min(10_000, len(parser.get_buffer())))
            now, _ = tracemalloc.get_traced_memory()
            assert now < 16 * parser.buffered() + 128 * 1024
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not COMPILED, reason="the plain version copies")
def test_a_long_word_is_received_where_it_stays() -> None:
    parser = RequestParser()
    size = 30_000_000
    tracemalloc.start()
    try:
        parser.feed(b"*1\r\n$%d\r\n" % size)
        assert parser.take() is None
        while parser.wants_buffer():
            parser.buffer_updated(len(parser.get_buffer()))
        words = parser.take()
        now, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert words is not None
    assert [len(word) for word in words] == [size]
    assert now < size + 10_000


def test_nobody_sees_a_word_that_is_broken_off() -> None:
    parser = stranger()
    parser.authenticated = True
    parser.feed(b"*2\r\n$40000\r\nabc")
    assert parser.take() is None
    parser.feed(b"x" * 39_997 + b"\r\n!\r\n")
    with pytest.raises(ProtocolError):
        parser.take()
    assert parser.buffered() == 0
    assert not parser.wants_buffer()
