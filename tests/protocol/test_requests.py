"""RequestParser: every form of request and every error, whole and split anywhere."""

from __future__ import annotations

import gc
import itertools
import resource
import tracemalloc
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.encoder import Encoder
from protocol.requests import ProtocolError, RequestParser, know_names
from tests.worth import COMPILED, SLOW, rounds

Outcome = tuple[list[list[bytes]], str | None]  # the commands, and the error after them

PING = b"*1\r\n$4\r\nPING\r\n"

# (request, its commands), as redis-server 7.0.15 takes them.
COMMANDS: dict[str, tuple[bytes, list[list[bytes]]]] = {
    "one word": (PING, [[b"PING"]]),
    "some words": (b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nvv\r\n", [[b"SET", b"k", b"vv"]]),
    "pipelined": (PING * 3, [[b"PING"]] * 3),
    "an empty word": (b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", [[b"ECHO", b""]]),
    "an empty name": (b"*1\r\n$0\r\n\r\n", [[b""]]),
    "line ends in a word": (b"*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n", [[b"ECHO", b"\r\n\r\n"]]),
    "two-digit lengths": (b"*1\r\n$12\r\nabcdefghijkl\r\n", [[b"abcdefghijkl"]]),
    "no words, then some": (b"*0\r\n*-1\r\n*-12345\r\n" + PING, [[b"PING"]]),
    "any byte in place of a head's LF": (b"*1\rX$4\rYPING\r\n", [[b"PING"]]),
    "any bytes in place of a word's CRLF": (b"*1\r\n$4\r\nPINGxx" + PING, [[b"PING"], [b"PING"]]),
    "inline": (b"PING\r\n", [[b"PING"]]),
    "inline with LF only": (b"PING\nPING\n", [[b"PING"], [b"PING"]]),
    "inline with two CRs": (b"PING\r\r\n", [[b"PING"]]),
    "inline with blanks": (b" \tECHO \t a  \r\n", [[b"ECHO", b"a"]]),
    "inline with quotes": (b"SET 'a b' \"\\x41\\n\"\r\n", [[b"SET", b"a b", b"A\n"]]),
    "inline with an empty word": (b"ECHO ''\r\n", [[b"ECHO", b""]]),
    "inline with more words than an unauthenticated array may have": (
        b"a " * 20 + b"\n",
        [[b"a"] * 20],
    ),
    "empty lines": (b"\r\n\n \r\n" + PING, [[b"PING"]]),
    "inline and multibulk": (b"PING\r\n" + PING + b"PING\n", [[b"PING"]] * 3),
    "HTTP": (b"POST / HTTP/1.1\r\nHost: x\r\n", [[b"POST", b"/", b"HTTP/1.1"], [b"Host:", b"x"]]),
}

# (request, protocol error), with the error texts of redis-server 7.0.15.
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

# Requests that are too long to be split at every byte.
TOO_LONG: dict[str, tuple[bytes, str]] = {
    "a count": (b"*" + b"1" * 65536, "too big mbulk count string"),
    "a length": (b"*1\r\n$" + b"1" * 65536, "too big bulk count string"),
    "an inline command": (b"x" * 65537, "too big inline request"),
    "an inline command with a NUL": (b"\0\r\n" + b"\n" * 65534, "too big inline request"),
    "an inline command with a NUL in it": (b"a\0b\r\n" + b"\n" * 65532, "too big inline request"),
}


def outcome(pieces: Iterable[bytes], parser: RequestParser | None = None) -> Outcome:
    """The commands and the error that come out when *pieces* are fed one by one."""
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


def splits(wire: bytes) -> Iterable[list[bytes]]:
    """*wire* whole, byte by byte, and split in two at every byte."""
    yield [wire]
    yield byte_by_byte(wire)
    for at in range(1, len(wire)):
        yield [wire[:at], wire[at:]]


def request(argv: list[bytes]) -> bytes:
    return b"*%d\r\n" % len(argv) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in argv)


def unauthenticated_parser() -> RequestParser:
    parser = RequestParser()
    parser.authenticated = False
    return parser


# ---------------------------------------------------------------------- cases


@pytest.mark.parametrize("new_parser", [RequestParser, unauthenticated_parser])
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_parsed_however_they_are_split(
    name: str, new_parser: Callable[[], RequestParser]
) -> None:
    wire, commands = COMMANDS[name]
    for pieces in splits(wire):
        assert outcome(pieces, new_parser()) == (commands, None), pieces


@pytest.mark.parametrize("name", COMMANDS)
def test_an_incomplete_next_request_changes_nothing(name: str) -> None:
    wire, commands = COMMANDS[name]
    for rest in (b"*", b"*3\r\n$3\r\nSET\r\n", b"*1\r\n$5\r\nab", b"PI"):
        assert outcome([wire + rest]) == (commands, None)
        assert outcome([wire + rest, b"", b""]) == (commands, None)


@pytest.mark.parametrize("name", REFUSED)
def test_errors_have_the_text_of_redis_however_requests_are_split(name: str) -> None:
    wire, error = REFUSED[name]
    for pieces in splits(wire):
        commands, got = outcome(pieces)
        assert got == error, pieces
        assert commands == []


@pytest.mark.parametrize("name", REFUSED)
def test_commands_before_a_protocol_error_come_out_and_none_after_it(name: str) -> None:
    wire, error = REFUSED[name]
    for pieces in ([PING + wire + PING], [PING, wire, PING], byte_by_byte(PING + wire + PING)):
        assert outcome(pieces) == ([[b"PING"]], error)


@pytest.mark.parametrize("name", TOO_LONG)
def test_an_endless_line_is_refused_after_64_kib(name: str) -> None:
    wire, error = TOO_LONG[name]
    assert outcome([wire]) == ([], error)
    assert outcome([wire[:-1]]) == ([], None)
    assert outcome([wire[:40000], wire[40000:-1], wire[-1:]]) == ([], error)
    assert outcome([wire + b"\r\n"]) == ([], error)  # the end of the line comes too late


def test_a_line_of_64_kib_is_read() -> None:
    word = b"x" * 65535
    for pieces in ([word + b"\r\n"], [word, b"\r\n"], [word + b"\r", b"\n"]):
        assert outcome(pieces) == ([[word]], None)


def test_after_a_protocol_error_the_parser_ignores_all_input() -> None:
    parser = RequestParser()
    assert outcome([b"*x\r\n"], parser) == ([], "invalid multibulk length")
    assert outcome([PING, b"*x\r\n"], parser) == ([], None)
    assert parser.buffered() == 0


# ---------------------------------------------------------------------- limits


def test_a_word_of_exactly_max_bulk_is_accepted() -> None:
    for pieces in splits(b"*1\r\n$5\r\nabcde\r\n"):
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
        (request([b"a"] * 11), "unauthenticated multibulk length"),
        (request([b"a" * 16385]), "unauthenticated bulk length"),
    ],
)
def test_unauthenticated_clients_have_lower_limits(wire: bytes, error: str | None) -> None:
    assert outcome([wire], unauthenticated_parser()) == ([], error)
    assert outcome(byte_by_byte(wire), unauthenticated_parser()) == ([], error)


def test_the_lower_limits_end_with_an_auth_inside_a_pipeline() -> None:
    parser = unauthenticated_parser()
    parser.feed(request([b"AUTH", b"pw"]) + request([b"DEL"] + [b"k"] * 20))
    assert parser.take() == [b"AUTH", b"pw"]
    parser.authenticated = True
    assert parser.take() == [b"DEL"] + [b"k"] * 20


@pytest.mark.parametrize("wire", [b"*2147483647\r\n", b"*2147483647\r\n$536870912\r\nabc"])
def test_announced_lengths_reserve_no_memory(wire: bytes) -> None:
    parser = RequestParser()
    tracemalloc.start()
    try:
        assert outcome([wire[:9], wire[9:]], parser) == ([], None)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * 1024


# ---------------------------------------------------------------------- what the parser keeps


def test_nothing_is_buffered_between_commands() -> None:
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


def test_what_is_kept_are_the_bytes_as_they_came_until_the_last_command_is_taken() -> None:
    parser = RequestParser()
    parser.feed(b"GET a\r\nGET b\r\n")
    assert parser.take() == [b"GET", b"a"]
    assert parser.kept() == 14
    assert parser.take() == [b"GET", b"b"]
    assert parser.take() is None
    assert (parser.kept(), parser.room()) == (0, 0)


def test_the_words_of_a_command_that_is_not_whole_are_told_apart_from_what_follows() -> None:
    parser = RequestParser()
    parser.feed(b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$1000\r\n" + b"x" * 500)
    assert parser.take() is None
    assert (parser.words_size(), parser.kept()) == (6, 500)


def test_a_long_word_has_room_for_what_has_not_come_yet() -> None:
    parser = RequestParser()
    parser.feed(b"*1\r\n$100000\r\n" + b"x" * 70_000)
    assert parser.take() is None
    parser.get_buffer()
    assert parser.kept() == 70_000
    assert parser.room() == 100_002 - 70_000


def test_a_parser_is_overfull_beyond_max_buffered() -> None:
    parser = RequestParser()
    parser.max_buffered = 20
    parser.feed(b"*1\r\n$100\r\n" + b"x" * 10)
    assert not parser.overfull()
    parser.feed(b"x")
    assert parser.overfull()


def test_an_unauthenticated_parser_is_overfull_beyond_1_mib() -> None:
    parser = unauthenticated_parser()
    parser.feed(b"x" * 1024 * 1024)
    assert not parser.overfull()
    parser.feed(b"x")
    assert parser.overfull()
    parser.authenticated = True
    assert not parser.overfull()


def test_a_finished_long_word_is_freed_though_more_input_waits() -> None:
    parser = RequestParser()
    long = request([b"x" * 1_000_000])
    tracemalloc.start()
    try:
        outcome([long[:500_000], long[500_000:] + b"*"], parser)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert parser.buffered() == 1
    assert held < 16 * 1024


@pytest.mark.parametrize("step", [1000, 16384, 65536, 99_991])
def test_long_words_can_arrive_in_pieces(step: int) -> None:
    words = [bytes([65 + i]) * (100_000 + i) for i in range(5)]
    wire = request(words) + PING + request(words[:1])
    pieces = [wire[i : i + step] for i in range(0, len(wire), step)]
    assert outcome(pieces) == ([words, [b"PING"], words[:1]], None)


def test_a_word_repeated_at_the_same_index_is_the_same_object() -> None:
    parser = RequestParser()
    parser.feed(
        request([b"XADD", b"orders", b"*", b"item", b"tea"])
        + request([b"XADD", b"orders", b"*", b"size", b"tea", b"more", b"x"])
        + request([b"XADD", b"order", b"*", b"size", b"tee"])
    )
    first, second, third = parser.take(), parser.take(), parser.take()
    assert first and second and third
    assert second == [b"XADD", b"orders", b"*", b"size", b"tea", b"more", b"x"]
    assert third == [b"XADD", b"order", b"*", b"size", b"tee"]
    assert [a is b for a, b in zip(first, second, strict=False)] == [True, True, True, False, True]
    assert [a is b for a, b in zip(second, third, strict=False)] == [True, False, True, True, False]


@pytest.mark.parametrize("size", range(1, 40))
def test_a_word_that_differs_in_one_byte_is_another_one(size: int) -> None:
    word = bytes(range(65, 65 + size))
    commands = []
    for at in range(size):
        other = word[:at] + b"." + word[at + 1 :]
        commands += [[b"XADD", word], [b"XADD", other], [b"XADD", word], [word], [other]]
    assert outcome([b"".join(map(request, commands))]) == (commands, None)


def test_a_repeated_command_name_is_the_same_object_for_all_clients() -> None:
    def taken(*words: bytes) -> list[bytes]:
        parser = RequestParser()
        parser.feed(request(list(words)))
        argv = parser.take()
        assert argv == list(words)
        return argv

    name = taken(b"XAUTOCLAIM", b"orders")[0]
    assert taken(b"XAUTOCLAIM", b"orders")[0] is name
    assert taken(b"XAUTO_____IM")[0] is not name
    assert taken(b"n" * 16)[0] is taken(b"n" * 16)[0]
    assert taken(b"n" * 17)[0] is not taken(b"n" * 17)[0]


def test_known_names_come_out_as_the_given_objects() -> None:
    names = [bytes([*b"XGROUP"]), bytes([*b"get"]), b"g", b"n" * 17]
    know_names(names)
    parser = RequestParser()
    parser.feed(b"".join(request([name, b"a"]) for name in names))
    taken = [argv[0] for argv in iter(parser.take, None)]
    assert taken == names
    assert [a is b for a, b in zip(taken, names, strict=True)][:2] == [True, True]


@settings(max_examples=rounds(50))
@given(st.lists(st.binary(min_size=1, max_size=17), min_size=1, max_size=2000))
def test_any_number_of_names_come_out_unchanged(names: list[bytes]) -> None:
    wire = b"".join(request([name]) for name in names)
    assert outcome([wire]) == ([[name] for name in names], None)


@pytest.mark.parametrize("behind", [b"", b"*", b"*1\r\n$4\r\nPI"])
def test_words_are_freed_when_all_commands_are_taken(behind: bytes) -> None:
    parser = RequestParser()
    wire = request([b"ECHO", b"x" * 1_000_000]) + request([b"ECHO", b"y" * 1_000_000]) + behind
    tracemalloc.start()
    try:
        outcome([wire], parser)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 16 * 1024


def test_many_commands_can_be_fed_before_any_is_taken() -> None:
    """As for a blocked client, whose pipelined commands wait in order."""
    commands = [[b"ECHO", b"%d" % i] for i in range(20_000)] + [[b"SET", b"k", b"x" * 100_000]]
    wire = b"".join(map(request, commands))
    parser = RequestParser()
    for i in range(0, len(wire), 5000):
        parser.feed(wire[i : i + 5000])
    assert parser.buffered() == len(wire)
    assert outcome([b""], parser) == (commands, None)


# ---------------------------------------------------------------------- runs of similar commands

ADD = [b"XADD", b"s", b"*", b"a", b"1"]


def moved_after(argv: list[bytes], wire: bytes, parser: RequestParser | None = None) -> bytes:
    """The part of *wire*, which follows *argv*, that move_alike moves to the encoder."""
    parser, out = parser or RequestParser(), Encoder()
    parser.feed(request(argv) + wire)
    assert parser.take() == argv
    count = parser.move_alike(argv, out)
    data = out.take()
    assert count == len(outcome([data])[0])
    return data


def test_commands_of_the_same_name_and_length_are_moved_unchanged() -> None:
    others = [[b"XADD", b"t", b"1-1", b"", b"x" * 1000], [b"XADD", b"", b"", b"", b""], ADD]
    wire = b"".join(map(request, others))
    assert moved_after(ADD, wire) == wire


@pytest.mark.parametrize(
    "behind",
    [
        request([b"XADD", b"s", b"*", b"a", b"1", b"b", b"2"]),
        request([b"xadd", *ADD[1:]]),
        request([b"EXEC"]),
        request([b"XADDS", *ADD[1:]]),
        request(ADD).replace(b"$1\r\n", b"$01\r\n"),
        request(ADD).replace(b"$1\r\n", b"$-1\r\n"),
        request(ADD).replace(b"$1\r\n", b"$999999999\r\n"),
        b"XADD s * a 1\r\n",
    ],
)
def test_a_different_command_ends_the_run(behind: bytes) -> None:
    run = request(ADD) * 3
    assert moved_after(ADD, run + behind + run) == run


def test_an_incomplete_command_is_not_moved() -> None:
    wire = request(ADD)
    for at in range(len(wire)):
        parser = RequestParser()
        assert moved_after(ADD, wire + wire[:at], parser) == wire
        assert outcome([wire[at:]], parser) == ([ADD], None)


def test_nothing_is_moved_if_unauthenticated_or_inside_a_command() -> None:
    assert moved_after(ADD, request(ADD), unauthenticated_parser()) == b""
    parser, out = RequestParser(), Encoder()
    parser.feed(request(ADD) + b"*5\r\n$4\r\nXADD\r\n" + b"$90\r\n")
    assert outcome([], parser) == ([], None)
    assert parser.take() == ADD
    assert parser.take() is None
    parser.feed(request(ADD))
    assert parser.move_alike(ADD, out) == 0


def test_a_word_beyond_max_bulk_is_not_moved() -> None:
    parser = RequestParser()
    parser.max_bulk = 5
    assert moved_after(ADD, request(ADD) + request([*ADD[:4], b"123456"]), parser) == request(ADD)
    with pytest.raises(ProtocolError, match="invalid bulk length"):
        parser.take()


# ---------------------------------------------------------------------- random input

FRAGMENTS = st.sampled_from(
    [b"*", b"$", b"\r\n", b"\n", b"\r", b"0", b"1", b"2", b"10", b"-1", b"a"]
)
NOISE = st.lists(FRAGMENTS | st.binary(max_size=3) | st.just(PING), max_size=30).map(b"".join)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=5)


def split_by(wire: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at, turn = [], 0, 0
    while at < len(wire):
        pieces.append(wire[at : at + sizes[turn % len(sizes)]])
        at += len(pieces[-1])
        turn += 1
    return pieces


@settings(max_examples=rounds(200))
@given(st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=12), max_size=6), SIZES)
def test_random_commands_are_parsed_back(commands: list[list[bytes]], sizes: list[int]) -> None:
    wire = b"".join(map(request, commands))
    assert outcome([wire]) == (commands, None)
    assert outcome(split_by(wire, sizes)) == (commands, None)


FEW_WORDS = st.sampled_from([b"XADD", b"SET", b"k", b"*", b"", b"val", b"vel", b"value"])


@settings(max_examples=rounds(200))
@given(st.lists(st.lists(FEW_WORDS, min_size=1, max_size=5), max_size=8), SIZES)
def test_repeated_and_similar_words_are_never_mixed_up(
    commands: list[list[bytes]], sizes: list[int]
) -> None:
    wire = b"".join(map(request, commands))
    assert outcome([wire]) == (commands, None)
    assert outcome(split_by(wire, [8 * size for size in sizes])) == (commands, None)


@settings(max_examples=rounds(200))
@given(st.lists(st.tuples(st.lists(FEW_WORDS, min_size=1, max_size=5), st.booleans()), max_size=8))
def test_a_command_that_is_kept_is_not_changed_by_the_next_one(
    commands: list[tuple[list[bytes], bool]],
) -> None:
    """The list of one that is not kept may be used again."""
    parser = RequestParser()
    parser.feed(b"".join(request(words) for words, _ in commands))
    kept = []
    for words, is_kept in commands:
        argv = parser.take()
        assert argv == words
        if is_kept:
            kept.append(argv)
        del argv
    assert kept == [words for words, is_kept in commands if is_kept]


@settings(max_examples=rounds(300))
@given(NOISE, SIZES, st.booleans())
def test_random_bytes_give_the_same_outcome_however_they_are_split(
    wire: bytes, sizes: list[int], authenticated: bool
) -> None:
    new = RequestParser if authenticated else unauthenticated_parser
    whole = outcome([wire], new())
    assert outcome(split_by(wire, sizes), new()) == whole
    assert all(whole[0])


FEW_KINDS = st.lists(
    st.tuples(st.sampled_from([b"XADD", b"SET"]), st.lists(st.binary(max_size=8), max_size=3)).map(
        lambda command: [command[0], *command[1]]
    ),
    max_size=12,
)


@settings(max_examples=rounds(200))
@given(FEW_KINDS, st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_moved_runs_lose_no_command(commands: list[list[bytes]], sizes: list[int]) -> None:
    parser, seen = RequestParser(), list[list[bytes]]()
    for piece in split_by(b"".join(map(request, commands)), sizes):
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
def test_an_inline_command_with_a_nul_never_ends_as_in_redis(line: bytes) -> None:
    parser = RequestParser()
    assert outcome([b"PING\r\n", line, b"PING\r\n" * 1000], parser) == ([[b"PING"]], None)
    assert outcome([b"x" * 65536], parser) == ([], "too big inline request")


@pytest.mark.parametrize("piece", [1000, 64 * 1024, 100_001])
@pytest.mark.parametrize("size", [32 * 1024 - 1, 32 * 1024, 300_000])
def test_long_words_are_joined_from_pieces_of_any_size(piece: int, size: int) -> None:
    words = [b"SET", bytes(range(256)) * (size // 256 + 1), b"between", b"x" * size]
    wire = (request(words) + PING) * 3
    parser, taken = RequestParser(), []
    for at in range(0, len(wire), piece):
        parser.feed(wire[at : at + piece])
        while (argv := parser.take()) is not None:
            taken.append(argv)
    assert taken == [words, [b"PING"]] * 3
    assert parser.buffered() == 0


# ---------------------------------------------------------------------- the parser's own buffer


def received(
    wire: bytes, sizes: list[int], parser: RequestParser | None = None
) -> list[list[bytes]]:
    """The commands in *wire*, received *sizes* bytes a time, in turns."""
    parser = parser or RequestParser()
    commands: list[list[bytes]] = []
    at = 0
    for size in itertools.cycle(sizes):
        if at >= len(wire):
            return commands
        if parser.wants_buffer():
            buffer = parser.get_buffer()
            size = min(size, len(buffer), len(wire) - at)  # noqa: PLW2901  a socket has no more
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
def test_input_received_into_the_buffer_is_parsed_like_fed_input(
    lengths: list[list[int]], sizes: list[int]
) -> None:
    commands = [
        [bytes([65 + n % 26]) * length for n, length in enumerate(words)] for words in lengths
    ]
    wire = b"".join(map(request, commands))
    assert received(wire, sizes) == commands


def test_a_long_word_can_be_fed_though_the_parser_wants_a_buffer() -> None:
    parser = RequestParser()
    word = bytes(range(256)) * 400
    wire = request([b"SET", b"k", word]) + PING
    parser.feed(wire[:5000])
    assert parser.take() is None
    assert parser.wants_buffer()
    for at in range(5000, len(wire), 7000):
        parser.feed(wire[at : at + 7000])
    assert parser.take() == [b"SET", b"k", word]
    assert not parser.wants_buffer()
    assert parser.take() == [b"PING"]


def test_input_after_a_complete_long_word_waits_its_turn() -> None:
    """As while a command blocks: nothing is taken meanwhile."""
    parser = RequestParser()
    word = b"x" * 50_000
    wire = request([b"ECHO", word])
    parser.feed(wire[:100])
    assert parser.take() is None
    parser.feed(wire[100:] + PING)
    assert not parser.wants_buffer()
    parser.feed(request([b"GET", b"k"]))
    assert parser.buffered() == len(word) + 2 + len(PING) + len(request([b"GET", b"k"])) + 52
    assert parser.take() == [b"ECHO", word]
    assert parser.take() == [b"PING"]
    assert parser.take() == [b"GET", b"k"]


def test_the_buffer_grows_with_the_input_and_not_with_the_announced_length() -> None:
    """A client that announces 512 MB gets a multiple of what it has sent, and room for one read."""
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
            assert now < 48 * parser.buffered() + 128 * 1024
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(SLOW, reason="plain Python copies it, and so does the malloc of sanitizers")
def test_a_very_long_word_that_grows_is_moved_and_not_copied() -> None:
    """A copy of 40 MB is written into new pages: more than 9,000 of the small ones.

    The C library gives each block of more than 32 MB pages of its own, whatever came before.
    """
    parser = RequestParser()
    parser.feed(b"*1\r\n$100000000\r\n" + bytes(40_000_000))
    assert parser.take() is None
    gc.collect()  # it would write to pages that children of other tests share
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    while parser.room() < 50_000_000:
        parser.buffer_updated(len(parser.get_buffer()))
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < 5000


@pytest.mark.skipif(not COMPILED, reason="plain Python copies it")
def test_a_long_word_is_received_without_a_copy() -> None:
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


def test_a_protocol_error_after_a_long_word_clears_the_buffer() -> None:
    parser = unauthenticated_parser()
    parser.authenticated = True
    parser.feed(b"*2\r\n$40000\r\nabc")
    assert parser.take() is None
    parser.feed(b"x" * 39_997 + b"\r\n!\r\n")
    with pytest.raises(ProtocolError):
        parser.take()
    assert parser.buffered() == 0
    assert not parser.wants_buffer()
