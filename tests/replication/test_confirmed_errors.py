"""What penstock.confirmed takes an error for."""

from __future__ import annotations

import pytest
from redis.exceptions import ResponseError

from penstock.confirmed import is_unconfirmed

LATE = "NOTCONFIRMED Executed here, but not confirmed by 1 replica within 300 ms."


def in_pipeline(command: str, error: object) -> str:
    """The text that redis-py gives the error of a pipeline's first command."""
    return f"Command # 1 ({command}) of pipeline caused error: {error}"


@pytest.mark.parametrize(
    "text",
    [
        LATE,
        in_pipeline("SET a 3", LATE),
        in_pipeline("SET a 3", (LATE,)),  # as for asyncio
        in_pipeline("SET a two\nlines", LATE),
        in_pipeline(f"SET a {in_pipeline('SET b 1', 'ERR')}", LATE),
    ],
)
def test_an_error_that_says_so_is_unconfirmed_in_a_pipeline_too(text: str) -> None:
    assert is_unconfirmed(ResponseError(text))


@pytest.mark.parametrize(
    "text",
    [
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        in_pipeline("SET a 3", "WRONGTYPE Operation"),
        in_pipeline(f"LPUSH a {in_pipeline('x', LATE)}", "WRONGTYPE Operation"),
        in_pipeline("x", f"ERR unknown command '{in_pipeline('x', LATE)}', with args"),
        f"ERR {in_pipeline('x', LATE)}",
    ],
)
def test_an_error_that_only_quotes_it_is_not(text: str) -> None:
    assert not is_unconfirmed(ResponseError(text))
