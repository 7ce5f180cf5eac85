"""XADD IFLAST: an entry that is added only if nobody has added one meanwhile."""

from __future__ import annotations

import pytest

ADDED = b"5-0"


@pytest.fixture
def stream(server):
    server.send_line("XADD s 1-0 f v")
    server.send_line("XADD s 2-0 f v")
    server.logged()
    return server


@pytest.mark.parametrize("line", ["XADD s IFLAST 2-0 5-0 f v", "XADD s iflast 2 5-0 f v",
                                  "XADD s NOMKSTREAM IFLAST 2-0 5-0 f v",
                                  "XADD s IFLAST 2-0 NOMKSTREAM 5-0 f v"])  # fmt: skip
def test_the_entry_is_added_after_the_expected_one(stream, line):
    assert stream.send_line(line) == ADDED
    logged = [words for words in stream.logged() if words.startswith(b"XADD")]
    assert [words.replace(b"NOMKSTREAM ", b"") for words in logged] == [b"XADD s 5-0 f v"]


@pytest.mark.parametrize("last", ["1-0", "2-1", "3-0", "0-0"])
def test_nothing_is_added_after_another_one(stream, last):
    assert stream.send_line(f"XADD s IFLAST {last} 5-0 f v") is None
    assert stream.send_line(f"XADD s IFLAST {last} MAXLEN 1 * f v") is None
    assert stream.send_line("XLEN s") == 2
    assert stream.logged() == []


def test_an_empty_stream_has_no_last_entry(stream):
    assert stream.send_line("XADD new IFLAST 1-0 * f v") is None
    assert stream.send_line("EXISTS new") == 0
    assert stream.send_line("XADD new IFLAST 0-0 5-0 f v") == ADDED
    assert stream.send_line("XADD new IFLAST 0-0 6-0 f v") is None
    stream.send_line("XTRIM new MAXLEN 0")
    assert stream.send_line("XADD new IFLAST 0 6-0 f v") == b"6-0"
    stream.send_line("XTRIM new MAXLEN 0")
    assert stream.send_line("XADD new IFLAST 6-0 7-0 f v") == b"7-0"  # its id is still the last


def test_a_deleted_entry_was_the_last_one_nevertheless(stream):
    stream.send_line("XDEL s 2-0")
    assert stream.send_line("XADD s IFLAST 1-0 5-0 f v") is None
    assert stream.send_line("XADD s IFLAST 2-0 5-0 f v") == ADDED


def test_a_producer_that_tries_again_gets_the_id_that_its_entry_has(stream):
    added = stream.send_line("XADD s IFLAST 2-0 IDMP p a * f v")
    assert stream.send_line("XADD s IFLAST 2-0 IDMP p a * f v") == added
    assert stream.send_line("XADD s IFLAST 2-0 IDMP p b * f v") is None
    assert stream.send_line("XLEN s") == 3
    assert not any(b"IFLAST" in words for words in stream.logged())


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("XADD s IFLAST 2-0 * f", "-ERR wrong number of arguments for 'xadd' command"),
        ("XADD s IFLAST 1-0 5-0", "-ERR wrong number of arguments for 'xadd' command"),
        ("XADD s IFLAST x * f v", "-ERR Invalid stream ID specified as stream command argument"),
        ("XADD t IFLAST 0-0 * f v", "-WRONGTYPE Operation against a key holding the wrong kind of"
                                    " value"),
    ],
)  # fmt: skip
def test_what_is_refused(stream, line, error):
    stream.send_line("SET t x")
    stream.logged()
    assert stream.send_line(line) == error
    assert stream.logged() == []


def test_of_many_writers_that_know_the_same_end_one_adds(stream):
    writers = [stream.client() for _ in range(5)]
    answers = [writer.send("XADD", "s", "IFLAST", "2-0", "*", "f", "v") for writer in writers]
    assert len([answer for answer in answers if answer is not None]) == 1
