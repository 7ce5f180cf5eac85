"""The arguments of SCAN and its relatives."""

from __future__ import annotations

import pytest

from protocol.replies import ErrorReply
from server.commands.shared.scan_args import ScanOptions, to_cursor
from server.table.args import Args


@pytest.mark.parametrize("text", [b"", b"-1", b" 1", b"abc", b"1x", b"18446744073709551616"])
def test_a_cursor_is_an_unsigned_number_of_64_bits(text: bytes) -> None:
    assert to_cursor(b"18446744073709551615") == 2**64 - 1
    with pytest.raises(ErrorReply, match="ERR invalid cursor"):
        to_cursor(text)


def test_options_come_in_any_order_and_the_last_one_counts() -> None:
    words = b"count 5 MATCH a* NOVALUES type HASH COUNT 7 match b*".split()
    options = ScanOptions(Args(words, 0), b"TYPE", b"NOVALUES")
    assert (options.count, options.pattern, options.type_name) == (7, b"b*", b"hash")
    assert options.no_values
    assert options.matches(b"bc")
    assert not options.matches(b"ab")


def test_without_options_a_page_has_ten_of_all() -> None:
    options = ScanOptions(Args([], 0))
    assert (options.count, options.type_name, options.no_values) == (10, None, False)
    assert options.matches(b"\xff\x00")


@pytest.mark.parametrize(
    "line", ["COUNT", "MATCH", "COUNT 0", "COUNT -1", "FOO", "TYPE x", "NOVALUES"]
)
def test_other_options_are_syntax_errors(line: str) -> None:
    with pytest.raises(ErrorReply, match="ERR syntax error"):
        ScanOptions(Args(line.encode().split(), 0))
