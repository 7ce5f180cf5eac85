"""The player of transcripts finds what is wrong in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.processes import ServerProcess, penstock_command, redis_tool
from tests.docs.sessions import Transcripts, steps
from tests.docs.test_played import until_one_waits

PROMPT = "127.0.0.1:6379> "


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    process = ServerProcess(penstock_command(), tmp_path_factory.mktemp("server"))
    yield process
    process.stop()


@pytest.fixture
def transcripts(server: ServerProcess) -> Iterator[Transcripts]:
    server.control.call(b"FLUSHALL")
    found = Transcripts(redis_tool("redis-cli"), server.port)
    yield found
    found.abort()


def test_a_reply_that_is_right_passes(transcripts: Transcripts) -> None:
    transcripts.play(f"{PROMPT}SET a 1\nOK\n{PROMPT}LRANGE l 0 -1\n(empty array)")
    transcripts.close()


def test_another_reply_is_found(transcripts: Transcripts) -> None:
    with pytest.raises(AssertionError, match="'OK', not 'KO'"):
        transcripts.play(f"{PROMPT}SET a 1\nKO\n")


def test_a_reply_that_is_longer_is_found(transcripts: Transcripts) -> None:
    transcripts.play(f'{PROMPT}RPUSH l a b\n(integer) 2\n{PROMPT}LRANGE l 0 -1\n1) "a"')
    with pytest.raises(AssertionError):
        transcripts.close()


def test_ids_may_differ_but_not_among_each_other(transcripts: Transcripts) -> None:
    one, two = "1795248281723-0", "1795248281800-0"
    transcripts.play(f'{PROMPT}XADD s * a 1\n"{one}"\n{PROMPT}XDEL s {one}\n(integer) 1')
    transcripts.play(f'{PROMPT}XADD s * a 1\n"{two}"')
    with pytest.raises(AssertionError, match=r"was .* before"):
        transcripts.play(f'{PROMPT}XRANGE s - +\n1) 1) "{one}"\n   2) 1) "a"\n      2) "1"')


def test_small_integers_must_be_equal(transcripts: Transcripts) -> None:
    with pytest.raises(AssertionError):
        transcripts.play(f"{PROMPT}INCR n\n(integer) 2")


def test_a_wait_goes_on_while_another_session_works(
    transcripts: Transcripts, server: ServerProcess
) -> None:
    assert transcripts.play(f"{PROMPT}BLPOP jobs 0")
    until_one_waits(server)
    transcripts.play(f"{PROMPT}RPUSH jobs a\n(integer) 1")
    transcripts.play('1) "jobs"\n2) "a"')
    transcripts.close()


def test_a_page_that_forgets_a_waiting_command_is_found(transcripts: Transcripts) -> None:
    transcripts.play(f"{PROMPT}BLPOP jobs 0")
    with pytest.raises(AssertionError, match="still waits"):
        transcripts.close()


def test_only_the_last_command_of_a_block_may_have_no_reply() -> None:
    with pytest.raises(AssertionError, match="only the last"):
        steps([f"{PROMPT}PING", f"{PROMPT}PING", "PONG"])
