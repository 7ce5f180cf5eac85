"""Penstock tells of keys what Redis tells, in the same order: after each line of each script."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.compat.differences import FIELD_EXPIRY_CASES, FIELD_WORDS_CASES, RIGHTS_OF_8_6
from tests.compat.judge import script_line
from tests.compat.listener import Listener
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, Oracles
from tests.compat.player import Player
from tests.compat.processes import ServerProcess
from tests.compat.resp import text_of
from tests.compat.script import BYTES, Case, load

CASES = load(Path(__file__).parent / "scripts") + load(Path(__file__).parent / "notifications")
CLASSES = b"KEAmn"

Message = tuple[bytes, bytes]  # a channel, and what is sent to it

LOOKED_UP_FIRST = "Redis looks for the key before it reads the arguments"
LOGS_OUT = "the listener loses its rights"
LISTENS = "the listener is one of the clients that are killed"
NOT_ASKED_OF_8 = {
    "eviction: nothing is queued over maxmemory": "8.0 queues what adds no data",
    "groups: XAUTOCLAIM": LOOKED_UP_FIRST,
    "pubsub: CLIENT LIST and KILL": LISTENS,
    "users: logging in": LOGS_OUT,
}
NOT_ASKED = {
    REDIS_7: {
        **dict.fromkeys(FIELD_EXPIRY_CASES, "fields expire since 7.4"),
        "bitmaps: BITCOUNT and BITPOS read their arguments first": "7.0 looks for the key first",
        "blocking_streams: all readers get the entry": "7.0 does not run a woken XREAD again",
        "blocking_streams: DELCONSUMER leaves its reader waiting": "7.0 makes a consumer with its"
        " first entry",
        "eviction: who waits for an evicted stream is told": "7.0 does not run its command again",
        "groups: XAUTOCLAIM": LOOKED_UP_FIRST,
        "pubsub: CLIENT LIST and KILL": LISTENS,
        "users: logging in": LOGS_OUT,
        "tracking: a client that waits": "7.0 does not run a woken XREAD again",
        "sorted_sets: ranks with scores": "since 7.2",
    },
    REDIS_8: {
        **NOT_ASKED_OF_8,
        **dict.fromkeys(FIELD_WORDS_CASES, "it takes the words of these commands in one order"),
    },
    REDIS_8_6: {
        **NOT_ASKED_OF_8,
        "protocol_errors: too long a line": "it waits for the end of a bulk's length",
        "users: transactions": RIGHTS_OF_8_6,
    },
}
# What 7.0 does not tell, but 7.4 does: that a command has made a consumer on its way.
UNTOLD = {REDIS_7: b"xgroup-createconsumer", REDIS_8: None, REDIS_8_6: None}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("oracle", [REDIS_7, REDIS_8, REDIS_8_6])
def test_penstock_tells_of_keys_what_the_oracle_tells(
    case: Case, oracle: str, penstock: ServerProcess, oracles: Oracles
) -> None:
    if reason := NOT_ASKED[oracle].get(case.name):
        pytest.skip(f"{oracle}: {reason}")
    if any(step.words == [b"MONITOR"] for step in case.steps):
        pytest.skip("a monitor is shown what the listener sends, so its answers are out of step")
    now = time.time()
    theirs = played(oracles.start(oracle), case, now, UNTOLD[oracle])
    ours = played(penstock, case, now, UNTOLD[oracle])
    assert ours == theirs


def played(
    server: ServerProcess, case: Case, now: float, untold: bytes | None, classes: bytes = CLASSES
) -> list[str]:
    """The steps of *case*, and what is heard after each of them, without the event *untold*.

    What has expired stands at the end, in order of the text: the moment is the server's to choose.
    """
    shown, expired = [], []
    with Player(server, 2, now) as player, Listener(server, classes) as listener:
        player.remember_config(case)
        for step in case.steps:
            player.step(step)
            shown.append(f"{step.line}: {script_line(step.words)}")
            if step.action != BYTES:  # whose commands may still be on their way
                told = [one for one in listener.heard() if event_of(one) != untold]
                expired += lines([one for one in told if event_of(one) == b"expired"])
                shown += lines([one for one in told if event_of(one) != b"expired"])
    return shown + sorted(expired)


def event_of(message: Message) -> bytes:
    """The name of the event that *message* tells."""
    channel, text = message
    return text if channel.startswith(b"__keyspace") else channel.partition(b":")[2]


def lines(told: list[Message]) -> list[str]:
    """A line of text for each message. XREAD in Redis looks up a missing key twice, and says so."""
    once = [one for at, one in enumerate(told) if not _is_told_again(told, at)]
    return [f"    {text_of(channel)} {text_of(message)}" for channel, message in once]


def _is_told_again(told: list[Message], at: int) -> bool:
    return event_of(told[at]) == b"keymiss" and told[at] in told[:at]


def test_every_entry_of_not_asked_names_a_case() -> None:
    names = {case.name for case in CASES}
    assert all(names.issuperset(cases) for cases in NOT_ASKED.values())
