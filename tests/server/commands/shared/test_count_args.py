"""The arguments with a count: of LMPOP, ZMPOP and their like, of HRANDFIELD and ZRANDMEMBER."""

from __future__ import annotations

import pytest

from protocol.replies import ErrorReply
from server.commands.shared.count_args import count_and_form, take_keys_end_count
from server.table.args import Args


def taken(line: str) -> tuple[list[bytes], bool, int]:
    return take_keys_end_count(Args(line.encode().split(), 0), b"MIN", b"MAX")


def test_keys_end_and_count_are_taken() -> None:
    assert taken("1 k MIN") == ([b"k"], True, 1)
    assert taken("2 a b max count 7") == ([b"a", b"b"], False, 7)
    assert taken("1 MAX MIN") == ([b"MAX"], True, 1)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("0 k MIN", "numkeys should be greater than 0"),
        ("x k MIN", "numkeys should be greater than 0"),
        ("2 k MIN", "syntax error"),
        ("1 k", "syntax error"),
        ("1 k LEFT", "syntax error"),
        ("1 k MIN COUNT", "syntax error"),
        ("1 k MIN COUNT 1 COUNT 1", "syntax error"),
        ("1 k MIN FOO 1", "syntax error"),
        ("1 k MIN COUNT 0", "count should be greater than 0"),
        ("1 k MIN COUNT x", "count should be greater than 0"),
    ],
)
def test_wrong_arguments_are_refused(line: str, error: str) -> None:
    with pytest.raises(ErrorReply, match=error):
        taken(line)


def read(line: str) -> tuple[int, bool]:
    return count_and_form(line.encode().split(), b"WITHSCORES")


def test_the_count_and_the_form_are_read() -> None:
    assert read("ZRANDMEMBER k 3") == (3, False)
    assert read("ZRANDMEMBER k -3 withscores") == (-3, True)
    assert read(f"ZRANDMEMBER k {1 - 2**63}") == (1 - 2**63, False)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("Z k x", "not an integer"),
        (f"Z k {-(2**63)}", "value must between -9223372036854775807 and 9223372036854775807"),
        ("Z k 1 WITHVALUES", "syntax error"),
        ("Z k 1 WITHSCORES x", "syntax error"),
        (f"Z k {2**62} WITHSCORES", "value is out of range"),
    ],
)
def test_a_wrong_count_or_form_is_refused(line: str, error: str) -> None:
    with pytest.raises(ErrorReply, match=error):
        read(line)
