"""The arguments of HRANDFIELD and ZRANDMEMBER."""

from __future__ import annotations

import pytest

from protocol.replies import ErrorReply
from server.table.sample_args import count_and_form


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
def test_wrong_arguments_are_refused(line: str, error: str) -> None:
    with pytest.raises(ErrorReply, match=error):
        read(line)
