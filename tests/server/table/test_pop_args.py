"""The arguments of LMPOP, ZMPOP and the commands that wait like them."""

from __future__ import annotations

import pytest

from protocol.replies import ErrorReply
from server.table.args import Args
from server.table.pop_args import take_keys_end_count


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
