"""Streams whose entries are deleted with regard to groups, against Redis 8.6: answers and logs."""

from __future__ import annotations

from io import BytesIO

import pytest

from tests.compat.connection import Connection
from tests.compat.oracles import REDIS_8_6, Oracles
from tests.compat.random_commands import Draw
from tests.compat.resp import read
from tests.compat.test_log_exchange import Replica
from tests.worth import rounds

FAMILY = "acked trims"  # which are logged in words that no older server knows


@pytest.mark.parametrize("number", range(rounds(8)))
def test_redis_gets_the_same_streams_from_penstock_s_log(number: int, oracles: Oracles) -> None:
    ours = Replica()
    for command in Draw(f"ours-{FAMILY}-{number}").sequence(FAMILY, 120):
        ours.call(command)
    theirs = Connection(oracles.start(REDIS_8_6).port, 2)
    ours.play_to(theirs.call)
    for stream in (b"s", b"t"):
        for group in (b"g", b"h"):
            command = [b"XPENDING", stream, group]
            assert theirs.call(*command) == read(BytesIO(ours.call(command)))
    theirs.call(b"FLUSHALL")
    theirs.close()
