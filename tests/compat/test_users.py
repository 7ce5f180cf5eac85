"""Users, compared with real servers: rules by chance, and which commands they allow."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.compat.connection import Connection
from tests.compat.judge import script_line
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, Oracles
from tests.compat.processes import ServerProcess, bulk
from tests.compat.random_commands import FAMILIES, Draw
from tests.compat.resp import Reply
from tests.worth import rounds

ORACLES = [REDIS_7, REDIS_8, REDIS_8_6]
SEQUENCES = rounds(150)
COMMANDS = rounds(60)  # of each family, for each user

RULES = b"""
on off nopass resetpass reset >a >b <a sanitize-payload skip-sanitize-payload clearselectors allkeys
resetkeys ~a* ~b* %R~a* %W~b* %RW~c %R~* ~* %X~a % allchannels resetchannels &c* &d &* +@all -@all
allcommands nocommands +@read -@read +@write -@dangerous +@fast -@slow +@admin +@nosuch +get -get
+set +GET +config -config +config|get -config|set +client|id -client +select|0 +select|1 -select
+get|x +config|get|x +nosuch -nosuch (~a*_+get) (%R~*_+@read_&x) (allkeys) () (+get_on) (+get
""".split()

ASKED = """
get a1, get b1, set a1 x, set b1 x, getset a1 x, exists b1, copy a1 b1, mget a1 b1 c, config get x,
config set a b, client id, client list, select 0, select 1, flushall, ping, publish c1 x, get x,
psubscribe c*, subscribe d e, auth x, acl whoami, publish e x,
xreadgroup group streams g streams a1 >
"""

USERS = [
    b"+@all ~list* ~stream* ~k*",
    b"+@all %R~*",
    b"+@all %W~*",
    b"+@all -@write ~* (+@all %R~a* %W~b*)",
    b"+@read ~a* (+@write %W~* %R~b*)",
    b"+@all ~a ~b %R~c %W~d",
]


@pytest.fixture(params=ORACLES)
def both(
    request: pytest.FixtureRequest, penstock: ServerProcess, oracles: Oracles
) -> Iterator[tuple[Connection, Connection]]:
    """A connection to Penstock, and one to the oracle."""
    oracle = oracles.start(request.param)  # first: it may not be there
    ours, theirs = Connection(penstock.port, 3), Connection(oracle.port, 3)
    yield ours, theirs
    for connection in (ours, theirs):
        connection.call(b"ACL", b"DELUSER", b"ann")
        connection.close()


def words_of(reply: Reply) -> set[bytes]:
    assert isinstance(reply[1], list), reply
    return {bulk(item) for item in reply[1]}


def verdict(reply: Reply) -> tuple[str, bytes]:
    """Whether DRYRUN allows it and, if not, whether the command is at fault, a key or a channel."""
    text = reply[1]
    assert isinstance(text, bytes), reply
    if reply[0] != "$":
        return reply[0], text
    return reply[0], text.rpartition(b" ")[2]


def may(connection: Connection, command: list[bytes]) -> tuple[str, bytes]:
    return verdict(connection.call(b"ACL", b"DRYRUN", b"ann", *command))


def is_asked_otherwise(ours: Connection, command: list[bytes]) -> bool:
    """Whether Redis finds other keys in *command* than those that it works with.

    It does so in calls that are malformed and run nowhere, such as XREAD BLOCK STREAMS s $; and in
    PFMERGE without a source it finds none, and lets everybody make a key of that name.
    """
    if command[0].upper() == b"PFMERGE" and len(command) == 2:
        return True
    ours.call(b"MULTI")
    ours.call(*command)
    replies = ours.call(b"EXEC")[1]
    assert isinstance(replies, list)
    return bool(replies[0][0] == "-")


def is_same_set_of_rules(ours: Reply, theirs: Reply, is_7_0: bool) -> bool:
    """Whether ACL GETUSER says the same. 7.0 shows rules on commands in a form of its own."""
    if is_7_0:
        return without_commands(ours) == without_commands(theirs)
    return ours == theirs


def without_commands(reply: Reply) -> Reply:
    kind, value = reply
    if not isinstance(value, list):
        return reply
    kept: list[Reply] = []
    for at, item in enumerate(value):
        is_rules = at > 0 and value[at - 1] == ("$", b"commands")
        kept.append(("$", b"") if is_rules else without_commands(item))
    return kind, kept


def test_categories_have_the_same_commands(both):
    """Of the commands that both have; some have categories that 7.0 did not give them yet."""
    ours, theirs = both
    known = words_of(ours.call(b"ACL", b"CAT"))
    assert known == words_of(theirs.call(b"ACL", b"CAT"))
    mine, others = (
        {name: words_of(one.call(b"ACL", b"CAT", name)) for name in known} for one in both
    )
    shared = set().union(*mine.values()) & set().union(*others.values())
    newer = {b"blocking": {b"wait"}}  # since 7.2
    for name in known:
        assert (mine[name] ^ others[name]) & shared <= newer.get(name, set()), name


def test_rules_by_chance_make_the_same_user(both, request):
    ours, theirs = both
    is_7_0 = request.node.callspec.params["both"] == REDIS_7
    for number in range(SEQUENCES):
        dice = Random(number)
        steps = [b"ACL SETUSER ann reset"]
        for connection in both:
            connection.call(b"ACL", b"SETUSER", b"ann", b"reset")
        for _ in range(8):
            words = [w.replace(b"_", b" ") for w in dice.choices(RULES, k=dice.randint(1, 3))]
            command = [b"ACL", b"SETUSER", b"ann", *words]
            steps.append(script_line(command).encode())
            context = f"{number}: {steps}"
            assert ours.call(*command) == theirs.call(*command), context
            mine, others = (one.call(b"ACL", b"GETUSER", b"ann") for one in both)
            assert is_same_set_of_rules(mine, others, is_7_0), context
        if not is_7_0:
            mine, others = (words_of(one.call(b"ACL", b"LIST")) for one in both)
            assert mine == others, steps
        for asked in ASKED.encode().split(b","):
            mine, others = (may(one, asked.split()) for one in both)
            assert mine == others, (asked, steps)


@pytest.mark.parametrize("family", FAMILIES)
def test_commands_by_chance_are_allowed_to_the_same_users(both, family):
    for number, rules in enumerate(USERS):
        for one in both:
            assert one.call(b"ACL", b"SETUSER", b"ann", b"reset", *_rules(rules)) == ("+", b"OK")
        for command in Draw(f"{family}-{number}").sequence(family, COMMANDS):
            mine, others = (may(one, command) for one in both)
            if "-" in (mine[0], others[0]):  # no command of 7.0's, or not so many words
                continue
            assert mine == others or is_asked_otherwise(both[0], command), (command, rules)


def _rules(text: bytes) -> list[bytes]:
    """Rules between blanks; one between parentheses is one word."""
    first, *others = text.split(b" (")
    return [*first.split(), *(b"(" + other for other in others)]
