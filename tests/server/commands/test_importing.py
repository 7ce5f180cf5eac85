"""Most families of commands are imported when the server serves: server/commands/__init__.py."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from server.table.command import TABLE, Command, CommandTable, Flags


def python(code: str) -> object:
    """What *code*, run by a fresh interpreter, prints as JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return json.loads(done.stdout)


def names(rows: dict[bytes, Command]) -> list[str]:
    return sorted(row.name for row in rows.values())


def test_what_a_client_says_first_is_declared_at_once_and_the_rest_when_asked_for():
    code = (
        "import json, server.commands; from server.table.command import TABLE as t;"
        "print(json.dumps([sorted(t.by_spelling.keys() & {b'PING', b'GET', b'XADD'}) == [b'PING'],"
        " sorted(c.name for c in t.by_spelling[b'client'].subcommands.values()),"
        " t.find(b'GET').name, b'XADD' in t.by_spelling, len(t)]))"
    )
    client = TABLE.find(b"client")
    assert client is not None
    assert python(code) == [True, names(client.subcommands), "get", True, len(TABLE)]


def test_steps_declare_some_and_then_all_are_there():
    code = (
        "import json, server.commands; from server.table.command import TABLE as t; n = 0\n"
        "while t.declare_some(): n += 1\n"
        "print(json.dumps([n > 50, len(t.by_spelling), t.declare_some()]))"
    )
    assert python(code) == [True, 2 * len(TABLE), False]


PARTIAL_ACL = (
    "import json, server.commands; from server.table.command import TABLE as t\n"
    "while b'acl' not in t.by_spelling: t.declare_some()\n"
    "begun = len(t.by_spelling[b'acl'].subcommands)\n"
)


def test_a_container_is_found_with_all_its_subcommands():
    """The module of ACL declares the container, others its subcommands: a rule on it is on all."""
    code = PARTIAL_ACL + "print(json.dumps([begun, len(t.find(b'acl').subcommands)]))"
    acl = TABLE.find(b"acl")
    assert acl is not None
    assert python(code) == [2, len(acl.subcommands)]  # first there were HELP and CAT alone


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_subcommand_that_is_not_declared_yet_is_run(steps):
    code = PARTIAL_ACL + (
        f"for _ in range({steps}): t.declare_some()\n"
        "from server.config.parameters import Config\n"
        "from tests.server.conftest import SocketlessServer\n"
        "server = SocketlessServer(Config())\n"
        "print(json.dumps([server.send('ACL', 'WHOAMI').decode(), server.send('ACL', 'NOSUCH'),"
        " server.send('ACL')]))"
    )
    assert python(code) == [
        "default",
        "-ERR unknown subcommand 'NOSUCH'. Try ACL HELP.",
        "-ERR wrong number of arguments for 'acl' command",
    ]


class Failing:
    """Declares FIRST; then fails as often as *times* says, and declares SECOND."""

    def __init__(self, table: CommandTable, times: int) -> None:
        self._table = table
        self._times = times
        self._left = [b"second", b"first"]

    def __iter__(self) -> Iterator[None]:
        return self

    def __next__(self) -> None:
        if not self._left:
            raise StopIteration
        if len(self._left) == 1 and self._times:
            self._times -= 1
            raise MemoryError
        name = self._left.pop().decode()
        self._table.add(Command(name, arity=1, flags=Flags(0), group="generic", since="1"))


def test_a_step_that_fails_is_taken_again():
    table = CommandTable()
    table.go_on_with(Failing(table, times=1))
    with pytest.raises(MemoryError):
        table.complete()
    assert names(table.by_spelling) == ["first", "first"]
    assert [row.name for row in table] == ["first", "second"]
