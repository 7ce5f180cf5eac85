"""look_ahead: which words it finds, and that it changes nothing of what take() returns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.requests import ProtocolError, RequestParser
from tests.worth import rounds


def request(words: list[bytes]) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in words)


def fed(*pieces: bytes) -> RequestParser:
    parser = RequestParser()
    for piece in pieces:
        parser.feed(piece)
    return parser


def test_second_words_are_found_and_taken_as_the_same_objects() -> None:
    commands = [[b"SET", b"a", b"1"], [b"GET", b"b"], [b"HSET", b"c", b"f", b"v"]]
    parser = fed(b"".join(map(request, commands)))
    words = parser.look_ahead(16, 1)
    assert words == [b"a", b"b", b"c"]
    taken = [parser.take() for _ in commands]
    assert taken == commands
    for argv, word in zip(taken, words, strict=True):
        assert argv is not None
        assert argv[1] is word


def test_words_of_another_place_are_found_and_taken_as_the_same_objects() -> None:
    commands = [[b"EVALSHA", b"sha", b"1", b"k%d" % n, b"x"] for n in range(4)]
    parser = fed(b"".join(map(request, commands)))
    words = parser.look_ahead(16, 3)
    assert words == [b"k0", b"k1", b"k2", b"k3"]
    for argv, word in zip([parser.take() for _ in commands], words, strict=True):
        assert argv is not None
        assert argv[3] is word


def test_a_command_without_a_word_at_the_place_ends_it() -> None:
    parser = fed(request([b"FCALL", b"f", b"1", b"a"]) * 2 + request([b"FCALL", b"f", b"0"]))
    assert parser.look_ahead(16, 3) == [b"a"]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (request([b"GET", b"a"]), b"GET"),
        (request([b"x" * 100]), b"x" * 100),
        (b"*1\r\n$0\r\n\r\n", b""),
        (b"*2\r\n$3\r\nGE", b""),
        (b"*2\r\n", b""),
        (b"*0\r\n", b""),
        (b"*1\r\n$-1\r\n", b""),
        (b"GET a\r\n", b""),
        (b"", b""),
    ],
)
def test_the_name_of_the_next_command_is_its_first_word(data: bytes, name: bytes) -> None:
    parser = fed(data)
    assert parser.next_name() == name
    assert parser.buffered() == len(data)


def test_in_a_row_of_one_key_no_more_commands_are_read_than_asked_for() -> None:
    parser = fed(request([b"GET", b"a"]) * 16 + request([b"GET", b"b"]))
    assert parser.look_ahead(16, 1) == [b"a"]
    assert parser.look_ahead(17, 1) == [b"a", b"b"]


def test_no_more_words_come_than_asked_for() -> None:
    parser = fed(b"".join(request([b"GET", b"%d" % n]) for n in range(20)))
    assert parser.look_ahead(3, 1) == [b"0", b"1", b"2"]
    assert parser.take() == [b"GET", b"0"]
    assert parser.look_ahead(3, 1) == [b"1", b"2", b"3"]


def test_a_row_of_one_key_comes_once_and_not_after_a_command_with_it() -> None:
    parser = fed(request([b"GET", b"a"]) * 3 + request([b"GET", b"b"]) + request([b"GET", b"a"]))
    assert parser.look_ahead(16, 1) == [b"a", b"b", b"a"]
    assert parser.take() == [b"GET", b"a"]
    assert parser.look_ahead(16, 1) == [b"b", b"a"]
    keys = [argv[1] for _ in range(4) if (argv := parser.take())]
    assert keys == [b"a", b"a", b"b", b"a"]


@pytest.mark.parametrize(
    "behind",
    [
        b"",
        b"*2\r\n$3\r\nGET\r\n$5\r\nabc",
        b"*2\r\n$3\r\nGET\r\n",
        b"*2\r\n$3\r\nGE",
        b"*2\r\n",
        b"*",
        request([b"PING"]) + request([b"GET", b"unseen"]),
        b"*0\r\n" + request([b"GET", b"unseen"]),
        b"GET inline\r\n",
        b"*2\r\n$-1\r\n",
        b"*02\r\n$3\r\nGET\r\n$1\r\nb\r\n",
    ],
)
def test_what_is_not_whole_or_not_usual_ends_it(behind: bytes) -> None:
    assert fed(request([b"GET", b"a"]) + behind).look_ahead(16, 1) == [b"a"]


def test_nothing_is_read_behind_a_command_of_many_words() -> None:
    parser = fed(request([b"MSET", *[b"k"] * 40]) + request([b"GET", b"unseen"]))
    assert parser.look_ahead(16, 1) == [b"k"]


def test_nothing_is_found_if_unauthenticated_or_inside_a_command() -> None:
    parser = fed(request([b"GET", b"a"]))
    parser.authenticated = False
    assert parser.look_ahead(16, 1) == []
    parser = fed(b"*2\r\n$3\r\nGET\r\n")
    assert parser.take() is None
    parser.feed(b"$1\r\na\r\n" + request([b"GET", b"b"]))
    assert parser.look_ahead(16, 1) == []
    assert [parser.take(), parser.take()] == [[b"GET", b"a"], [b"GET", b"b"]]


def test_after_a_protocol_error_nothing_is_found() -> None:
    parser = fed(request([b"GET", b"a"]) + b"*1\r\n!\r\n")
    assert parser.look_ahead(16, 1) == [b"a"]
    parser.take()
    with pytest.raises(ProtocolError):
        parser.take()
    assert parser.look_ahead(16, 1) == []


@settings(max_examples=rounds(200))
@given(
    st.lists(st.lists(st.sampled_from([b"", b"a", b"ab", b"b" * 30]), min_size=1, max_size=5)),
    st.lists(st.integers(1, 60), min_size=1),
    st.lists(st.integers(0, 16), min_size=1),
    st.lists(st.integers(1, 4), min_size=1),
)
def test_looking_ahead_at_any_time_changes_no_command(
    commands: list[list[bytes]], sizes: list[int], most: list[int], places: list[int]
) -> None:
    wire = b"".join(map(request, commands))
    parser = RequestParser()
    taken = []
    at = turn = 0
    while at < len(wire):
        size = sizes[turn % len(sizes)]
        parser.feed(wire[at : at + size])
        at += size
        while True:
            parser.look_ahead(most[turn % len(most)], places[turn % len(places)])
            turn += 1
            argv = parser.take()
            if argv is None:
                break
            taken.append(argv[:])
    assert taken == commands
