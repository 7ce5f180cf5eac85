"""Run random commands of several clients on a whole server, and check all that must hold.

``python -m fuzz.commands -max_total_time=60`` does so for a minute, one seed after the other;
``python -m fuzz.commands -seed=7`` runs that one again, and says what it does. With
``-group=stream`` nearly all of the commands are of that group of commands.

Whatever is sent, valid or broken:

- no exception leaves the dispatcher or a handler but typed refusals;
- each command gets one whole reply, of the protocol that its client speaks;
- what the databases hold is intact: a snapshot of it is read back with all checks, and holds the
  same; a DUMP makes an equal value;
- when the clients have gone and the keys are removed, memory and registries are as at the start.

It needs no atheris: commands are drawn from their declarations (fuzz/command_words.py).
"""

from __future__ import annotations

import logging
import sys
import time
from random import Random

from fuzz.command_server import FuzzedServer
from fuzz.command_words import CommandWords
from fuzz.findings import finding_path
from server.client.client import MONITORING, SUBSCRIBED

CLIENTS = 4
COMMANDS = 300  # in a sequence
CHECK_EVERY = 50  # commands
LEAVING = 0.2  # how often a subscriber or monitor leaves before its next command
BETWEEN_MS = (0, 0, 0, 1, 50, 2000, 100_000)

Step = tuple[int, int, list[bytes]]  # ms that pass before, the client's number, the command


def run(seed: int, commands: int = COMMANDS, group: str = "") -> list[Step]:
    """Run the sequence of *seed*. Raises whatever is found; its notes are the steps."""
    dice = Random(seed)
    words = CommandWords(dice, group)
    server = FuzzedServer(CLIENTS)
    steps: list[Step] = []
    try:
        for number in range(1, commands + 1):
            _step(server, words, dice, steps)
            if number % CHECK_EVERY == 0:
                words.payloads += server.check_data(dice)
        server.check_empty()
    except BaseException as error:
        error.add_note("\n".join(_shown(step) for step in steps))
        raise
    return steps


def _step(server: FuzzedServer, words: CommandWords, dice: Random, steps: list[Step]) -> None:
    """Let time pass, and one client send a command."""
    while len(server.state.clients) < CLIENTS:
        server.connect()
    passed_ms = dice.choice(BETWEEN_MS)
    server.advance(passed_ms)
    while not (free := server.free_clients()):
        server.connect()
    client = dice.choice(free)
    if client.flags & (SUBSCRIBED | MONITORING) and dice.random() < LEAVING:
        server.dismiss(client)
        client = server.connect()
    argv = words.draw()
    steps.append((passed_ms, client.id, argv))
    server.run(client, argv)


def _shown(step: Step) -> str:
    passed_ms, client, argv = step
    return f"+{passed_ms} ms, client {client}: {argv!r}"


def main(options: list[str]) -> int:
    """Run until the time is over, or something is found."""
    logging.getLogger("penstock").setLevel(logging.ERROR)
    values = dict(option.lstrip("-").split("=", 1) for option in options)
    group = values.get("group", "")
    if "seed" in values:
        for step in run(int(values["seed"]), group=group):
            print(_shown(step))
        return 0
    end_s = time.monotonic() + int(values.get("max_total_time", 60))
    seed = first = time.time_ns() // 1000
    while time.monotonic() < end_s:
        try:
            run(seed, group=group)
        except Exception as error:
            path = finding_path(values, f"commands-{seed}.txt")
            path.write_text("\n".join([repr(error), *error.__notes__]), encoding="utf-8")
            print(f"found by -seed={seed}: {error!r}; its commands are in {path}")
            return 1
        seed += 1
    print(f"{seed - first} sequences of {COMMANDS} commands: nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
