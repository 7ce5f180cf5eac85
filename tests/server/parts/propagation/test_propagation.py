"""Commands are logged as tests/propagation/cases.txt says. It has every write command."""

from __future__ import annotations

import pytest

from server.table.command import TABLE, Flags
from tests.propagation import cases

CASES = cases.load()


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_commands_are_logged_as_the_cases_say(case, make_server):
    server = make_server(enable_debug_command="yes")
    guests = {"": server.owner}
    for step in case.steps:
        if step.action == cases.LATER:
            server.advance(cases.LATER_MS)
        else:
            guest = guests.setdefault(step.client, None) or server.client()
            guests[step.client] = guest
            guest.send(*step.argv(server.now_ms))
        logged = list(cases.shown(server.log.units, server.now_ms))
        server.log.units.clear()
        if step.action != cases.GIVEN:
            assert logged == step.logged[cases.PENSTOCK], step.words


def write_commands():
    for row in TABLE:
        for command in (row, *row.subcommands.values()):
            if command.flags & Flags.WRITE:
                yield command.name


def test_every_write_command_is_in_a_case():
    run = set()
    for case in CASES:
        for step in case.steps:
            words = step.words.lower().split()
            if step.action in (cases.RUN, cases.SEND):
                run |= {words[0], "|".join(words[:2])}
    assert set(write_commands()) <= run
