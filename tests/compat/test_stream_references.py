"""Streams whose entries are deleted with regard to groups: other servers get them from our log."""

from __future__ import annotations

from io import BytesIO

import pytest

from tests.compat.connection import Connection
from tests.compat.oracles import REDIS_7, REDIS_8_6, Oracles
from tests.compat.random_commands import Draw
from tests.compat.resp import Reply, read
from tests.compat.test_log_exchange import Replica
from tests.worth import rounds

FAMILY = "acked trims"


def greatest_deleted(reply: Reply) -> str:
    """The max-deleted-entry-id in a reply of XINFO STREAM; nothing is less than 0-1."""
    words = reply[1]
    if not isinstance(words, list):
        return ""
    value = str(words[words.index(("$", b"max-deleted-entry-id")) + 1][1], "ascii")
    return "0-0" if value == "0-1" else value


@pytest.mark.parametrize("number", range(rounds(8)))
@pytest.mark.parametrize("oracle", [REDIS_7, REDIS_8_6])
def test_redis_gets_the_same_streams_from_penstock_s_log(
    oracle: str, number: int, oracles: Oracles
) -> None:
    """Once, the log had a word that only Redis 8.2 and newer know."""
    ours = Replica()
    for command in Draw(f"ours-{FAMILY}-{number}").sequence(FAMILY, 120):
        ours.call(command)
    theirs = Connection(oracles.start(oracle).port, 2)
    ours.play_to(theirs.call)
    for stream in (b"s", b"t"):
        for group in (b"g", b"h"):
            command = [b"XPENDING", stream, group]
            assert theirs.call(*command) == read(BytesIO(ours.call(command)))
        command = [b"XINFO", b"STREAM", stream]
        told = read(BytesIO(ours.call(command)))
        assert greatest_deleted(theirs.call(*command)) == greatest_deleted(told)
    theirs.call(b"FLUSHALL")
    theirs.close()
