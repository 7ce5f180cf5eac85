"""Random cases of clients that block on lists, sorted sets and streams while another client writes.

Each blocking command names one key, because Redis 7.0 and 7.4 look at several keys in different
orders; ``stated/`` has cases for that.
"""

from __future__ import annotations

from random import Random

from tests.compat.script import CALL, QUIET, SEND, Case, Step

WAITERS = "ABCD"
BLOCKING = [
    "BLPOP key 0",
    "BRPOP key 0",
    "BLMOVE key key LEFT|RIGHT LEFT|RIGHT 0",
    "BRPOPLPUSH key key 0",
    "BLMPOP 0 1 key LEFT|RIGHT COUNT 2",
    "BZPOPMIN key 0",
    "BZPOPMAX key 0",
    "BZMPOP 0 1 key MIN|MAX COUNT 2",
    "XREAD BLOCK 0 STREAMS s $",
    "XREAD BLOCK 0 STREAMS s 0",
    "XREADGROUP GROUP g alice|bob BLOCK 0 COUNT 1 STREAMS s >",
]
WRITING = [
    "RPUSH key number",
    "LPUSH key number number",
    "RPUSH key number number number",
    "LMOVE key key LEFT|RIGHT LEFT|RIGHT",
    "LPOP key",
    "ZADD key number a number b number c",
    "ZINCRBY key number a",
    "ZUNIONSTORE key 1 key",
    "ZPOPMIN key",
    "DEL key",
    "SET key text",
    "RENAME key key",
    "COPY key key",
    "SWAPDB 1 2",
    "XADD s 0-* f v",
    "XADD s MAXLEN 1 0-* f v",
    "CLIENT UNBLOCK {A.id}",
    "CLIENT UNBLOCK {B.id} ERROR",
    "MULTI;RPUSH key number number;DEL key;EXEC",
    "MULTI;RPUSH key number;RPUSH key number;EXEC",
    "MULTI;LPUSH key number;LPOP key;RPUSH key number;EXEC",
]


def random_case(seed: str, size: int) -> Case:
    """A case of *size* commands; after each of them every client looks for a reply."""
    random = Random(seed)
    case = Case(seed)
    _work(case, "XGROUP CREATE s g $ MKSTREAM")
    for _ in range(size):
        if random.random() < 0.5:
            words = _drawn(random, random.choice(BLOCKING))
            case.steps.append(Step(0, random.choice(WAITERS), SEND, words))
        else:
            for line in random.choice(WRITING).split(";"):
                _work(case, b" ".join(_drawn(random, line)).decode())
        _look(case)
    for name in WAITERS:
        _work(case, f"CLIENT UNBLOCK {{{name}.id}}")
    for _ in range(3):
        _look(case)
    return case


def _work(case: Case, line: str) -> None:
    case.steps.append(Step(0, "", CALL, line.encode().split()))


def _look(case: Case) -> None:
    case.steps.extend(Step(0, name, QUIET, []) for name in WAITERS)


def _drawn(random: Random, form: str) -> list[bytes]:
    words = [random.choice(word.split("|")) for word in form.split()]
    drawn = {"key": "xyz", "number": "0123456789"}
    return [random.choice(drawn.get(word, [word])).encode() for word in words]
