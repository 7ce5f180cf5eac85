"""Random sequences of commands get the same answers from Penstock and from redis-server.

PENSTOCK_COMPAT_SEQUENCES: how many sequences a family and protocol (30). PENSTOCK_COMPAT_SEED: what
the seeds begin with; a failure names its own seed and shows the shortest sequence that was found.
"""

from __future__ import annotations

import os

import pytest

from tests.compat.connection import Connection, encode
from tests.compat.judge import Judge, disagreement, told
from tests.compat.processes import ServerProcess
from tests.compat.random_commands import FAMILIES, Command, Draw
from tests.compat.resp import CLOSED, Reply

SEQUENCES = int(os.environ.get("PENSTOCK_COMPAT_SEQUENCES", "30"))
SEED = os.environ.get("PENSTOCK_COMPAT_SEED", "1")
COMMANDS = 60  # a sequence
SHRINKING_RUNS = 300


@pytest.mark.parametrize("family", FAMILIES)
def test_random_commands(
    family: str, protocol: int, penstock: ServerProcess, redis: ServerProcess
) -> None:
    servers = (penstock, redis)
    for number in range(SEQUENCES):
        seed = f"{SEED}-{family}-{number}"
        commands = Draw(seed).sequence(family, COMMANDS)
        if first_difference(commands, servers, protocol) is not None:
            pytest.fail(report(seed, commands, servers, protocol), pytrace=False)


def first_difference(
    commands: list[Command], servers: tuple[ServerProcess, ServerProcess], protocol: int
) -> int | None:
    """The index of the first command that the two servers answer differently."""
    ours, theirs = (replies(server, commands, protocol) for server in servers)
    judge = Judge(at_random=True)
    for at, command in enumerate(commands):
        if not judge.agree(command, ours[at], theirs[at]):
            return at
    return None


def replies(server: ServerProcess, commands: list[Command], protocol: int) -> list[Reply]:
    """What an empty *server* answers to *commands*, sent in one piece."""
    server.control.call(b"FLUSHALL")
    client = Connection(server.port, protocol)
    client.send(b"".join(map(encode, commands)))
    got = []
    for command in commands:
        try:
            got.append(client.reply())
        except TimeoutError:
            client.close()
            pytest.fail(
                f"{server.process.process.args!r} does not answer {told(command)}", pytrace=False
            )
    client.close()
    return got + [CLOSED] * (len(commands) - len(got))


def report(
    seed: str,
    commands: list[Command],
    servers: tuple[ServerProcess, ServerProcess],
    protocol: int,
) -> str:
    """A shorter sequence that still differs, and the replies to its last command."""
    commands = shortened(commands, servers, protocol)
    ours, theirs = (replies(server, commands, protocol) for server in servers)
    lines = [f"seed {seed}, RESP{protocol}:", *(f"    {told(command)}" for command in commands)]
    return "\n".join([*lines, *disagreement(ours[-1], theirs[-1])])


def shortened(
    commands: list[Command], servers: tuple[ServerProcess, ServerProcess], protocol: int
) -> list[Command]:
    """Commands dropped one by one, from the last, as long as a difference remains."""
    at = len(commands)
    for _ in range(SHRINKING_RUNS):
        found = first_difference(commands, servers, protocol)
        if found is None:
            break
        commands = commands[: found + 1]
        at = min(at, len(commands) - 1) - 1
        while at >= 0:
            fewer = commands[:at] + commands[at + 1 :]
            if first_difference(fewer, servers, protocol) is not None:
                commands = fewer
                break
            at -= 1
        if at < 0:
            break
    return commands
