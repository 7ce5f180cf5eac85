"""How many calls the road of a command takes, as a profile of the uncompiled server counts them.

Functions of modules that have nothing but inline functions are not counted: compiled, they are no
calls. These servers do not follow the system's clock, so they ask theirs twice a turn, not once.

Whoever adds a call to these roads sees it here.
"""

from __future__ import annotations

import cProfile
import gc
import pstats
from pathlib import Path

import pytest

from server.table.command import TABLE
from tests.server.conftest import SocketlessClient, SocketlessServer
from tests.worth import COMPILED

pytestmark = pytest.mark.skipif(COMPILED, reason="a profile does not see compiled functions")

ROOT = Path(__file__).parents[3]
FLOORS = tuple(f"{ROOT}/{floor}/" for floor in ("server", "protocol", "storage"))
INLINE = {
    str(pxd.with_suffix(".py"))
    for floor in FLOORS
    for pxd in Path(floor).rglob("*.pxd")
    if pxd.read_text().startswith("# inline only")
}


def calls_of(client: SocketlessClient, server: SocketlessServer, line: str) -> int:
    """How many functions of the server are called when *client* sends *line*, in its turn."""
    argv = line.encode().split()
    turn, dispatcher = server.dispatcher.turn, server.dispatcher
    profile = cProfile.Profile()
    gc.disable()  # else what earlier tests have left may go meanwhile: __del__ would be counted
    profile.enable()
    turn.run(lambda: dispatcher.execute(client.client, argv))
    profile.disable()
    gc.enable()
    rows = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    return sum(
        row[0] for (file, _, _), row in rows if file.startswith(FLOORS) and file not in INLINE
    )


@pytest.fixture
def writer(server: SocketlessServer) -> SocketlessClient:
    for command in TABLE.all_rows():
        server.state.command_stats.of(command)  # else the first command makes all of them
    client = server.client()
    client.send_line("CONFIG SET slowlog-log-slower-than -1")  # else a stall adds the calls of that
    return client


@pytest.mark.parametrize(
    ("prepared", "line", "most"),
    [
        ((), "PING", 35),
        (("SET k v",), "GET k", 46),
        (("SET k v",), "SET k w", 59),
        (("XADD s * f v",), "XADD s * f v", 88),
        (("XADD s * f v",), "XRANGE s - +", 108),
        ((), "XREAD BLOCK 0 STREAMS s 5", 60),
    ],
)
def test_a_road_takes_few_calls(
    server: SocketlessServer,
    writer: SocketlessClient,
    prepared: tuple[str, ...],
    line: str,
    most: int,
) -> None:
    for each in prepared:
        writer.send_line(each)
    writer.send_line("PING")
    assert calls_of(writer, server, line) <= most


def test_an_xadd_that_wakes_an_xreadgroup_takes_few_calls(
    server: SocketlessServer, writer: SocketlessClient
) -> None:
    reader = server.client()
    writer.send_line("XGROUP CREATE s g $ MKSTREAM")
    for _ in range(3):
        reader.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
        calls = calls_of(writer, server, "XADD s * f v")
        assert not reader.waits
        reader.reply()
    assert calls <= 258
