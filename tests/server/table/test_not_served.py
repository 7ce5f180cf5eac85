"""Commands of Redis that are not served: the error says why."""

from __future__ import annotations

import pytest

import server.commands  # noqa: F401  (fills the table)
from server.table import not_served
from server.table.command import TABLE

NAMES = [name for family in not_served.FAMILIES for name in family.names]


@pytest.mark.parametrize("name", ["VADD", "vsim", "ARSET", "JSON.SET", "ft.search"])
def test_the_error_begins_as_for_any_unknown_command_and_says_why(server, name):
    reply = server.send(name, "k", "secret\r\n")
    assert reply.startswith(f"-ERR unknown command '{name}': this server ")
    assert "secret" not in reply


@pytest.mark.parametrize("name", ["VALID", "AR", "JSON", "X.Y", "nosuch"])
def test_others_are_just_unknown(server, name):
    assert server.send(name, "k").startswith(f"-ERR unknown command '{name}', with args beginning")


def test_none_of_them_is_served():
    TABLE.complete()
    assert not [name for name in NAMES if TABLE.find(name.encode()) is not None]
