"""Single keys: what clients did and saw, which must be what one client after the other would see.

    r:<n>   SET, GET                 a register
    l:<n>   RPUSH, LRANGE            a list: a lost, doubled or displaced push is seen for ever
    a, b    MULTI INCR INCR EXEC     both are the same whenever they are read together

detangle searches for an order of the operations that explains all replies, and has each between its
call and its reply. One whose outcome is not known may have happened at any time since, or never.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from detangle import lin

from tests.simulation.client import Wire, is_error

# What is not executed: the server says so before it looks at the command.
REFUSALS = (
    "LOADING", "READONLY", "MASTERDOWN", "NOREPLICAS", "NOQUORUM", "BUSY", "NOGOODSLAVE",
)  # fmt: skip

KEYS = 3
Find = Callable[[], Any]  # a connection to the primary, as an awaitable


def outcome_of(reply: Any) -> str:
    """What is known of it: ok; fail, it was not executed; or info, nobody knows."""
    if not is_error(reply):
        return "ok"
    return "fail" if str(reply).startswith(REFUSALS) else "info"


class Swaps(lin.Register):
    """A register: write (value); read -> the value; swap (value) -> the value before."""

    def step(self, state: Any, op: lin.Operation) -> tuple[bool, Any]:
        if op.f == "swap":
            return (op.status != "ok" or op.output == state, op.arg)
        return super().step(state, op)


class Pushes(lin.Model):
    """A list: push (value) -> its length; range -> all values."""

    name = "list"

    def init(self) -> tuple[str, ...]:
        return ()

    def step(self, state: Any, op: lin.Operation) -> tuple[bool, Any]:
        if op.f == "push":
            new = (*state, op.arg)
            return (op.status != "ok" or op.output == len(new), new)
        return (op.status != "ok" or op.output == state, state)


class Registers:
    """Clients of single keys; without *reads*, of commands that only a primary takes.

    *moves*: who is refused, or whose write is not confirmed, looks for another server.
    """

    def __init__(self, random: Random, reads: bool = True, moves: bool = False) -> None:
        self._random = random
        self._moves = moves
        self._ways = _WAYS if reads else _WRITES
        self.histories = {f"r:{n}": lin.History() for n in range(KEYS)}
        self.histories |= {f"l:{n}": lin.History() for n in range(KEYS)}
        self._values = 0
        self.done = 0
        self.torn = ""  # a transaction of which one part was seen

    async def client(
        self,
        name: str,
        find: Find,
        operations: int,
        pause_s: float,
        ends: Callable[[], bool] = lambda: False,
        only_reads: bool = False,
    ) -> None:
        """Do so many operations, over one connection as long as it lives."""
        wire: Wire | None = None
        for _ in range(operations):
            if ends():
                break
            await asyncio.sleep(self._random.uniform(0, pause_s))
            if wire is None or wire.is_lost:
                wire = await find()
                if wire is None:
                    continue
            try:
                if self._random.random() < 0.2 and not only_reads:
                    await self._transaction(wire)
                else:
                    await self._operation(name, wire, only_reads)
            except OSError:
                wire.close()
                wire = None
        if wire is not None:
            wire.close()

    async def _operation(self, name: str, wire: Wire, only_reads: bool) -> None:
        key = self._random.choice(list(self.histories))
        history = self.histories[key]
        self._values += 1
        value = f"{self._values}"
        f, words = self._random.choice(self._ways[key[0]][only_reads:])
        op = history.invoke(name, f, None if f == "read" else value)
        try:
            reply = await wire.call(words, key, *_rest(words, value))
        except OSError:
            history.info(op)
            raise
        kind = outcome_of(reply)
        if kind == "ok":
            self.done += 1
            history.ok(op, _output(words, reply))
        elif kind == "fail":
            history.fail(op)
        else:
            history.info(op)
        if self._moves and (kind == "fail" or (kind == "info" and f != "read")):
            wire.close()

    async def _transaction(self, wire: Wire) -> None:
        if self._random.random() < 0.5:
            reply = await wire.call("MGET", "a", "b")
            if not is_error(reply) and reply[0] != reply[1]:
                self.torn = self.torn or f"MGET a b has seen {reply!r}"
            return
        for words in (("MULTI",), ("INCR", "a"), ("INCR", "b")):
            _forget(wire.send(*words))
        await wire.call("EXEC")

    async def look(self, wire: Wire) -> None:
        """Read all keys at the end, on a connection of which each reply can be relied on."""
        for key, history in self.histories.items():
            _, words = _WAYS[key[0]][1]
            op = history.invoke("last", "read")
            reply = await wire.call(words, key, *_rest(words, ""))
            assert not is_error(reply), reply
            history.ok(op, _output(words, reply))

    def problems(self) -> list[str]:
        """What no order can explain."""
        found = [self.torn] if self.torn else []
        for key, history in self.histories.items():
            model = Swaps() if key[0] == "r" else Pushes()
            result = lin.check(_seen(history.operations), model)
            if not result.ok:
                found.append(f"{key} is not linearizable:\n{result.explain()}")
        return found


def _seen(operations: list[lin.Operation]) -> list[lin.Operation]:
    """*operations* without those that nobody knows of, and nobody has seen.

    If an order explains all replies and has such a write, one without it does, too: nothing was
    read between it and the next write. Of a list this holds if it was read at the end: a push is
    there, or has never been.
    """
    seen: set[object] = set()
    for op in operations:
        if op.status == "ok" and op.f in ("read", "swap"):
            seen.update(op.output if isinstance(op.output, tuple) else (op.output,))
    is_read_at_end = any(op.process == "last" for op in operations)
    return [
        op for op in operations
        if op.status == "ok" or op.arg in seen or (op.f == "push" and not is_read_at_end)
    ]  # fmt: skip


_WAYS: dict[str, Sequence[tuple[str, str]]] = {
    "r": (("write", "SET"), ("read", "GET")),
    "l": (("push", "RPUSH"), ("read", "LRANGE")),
}
_WRITES: dict[str, Sequence[tuple[str, str]]] = {
    "r": (("swap", "GETSET"), ("write", "SET")),
    "l": (("push", "RPUSH"),),
}


def _rest(command: str, value: str) -> tuple[str, ...]:
    return {
        "SET": (value,),
        "GETSET": (value,),
        "RPUSH": (value,),
        "GET": (),
        "LRANGE": ("0", "-1"),
    }[command]


def _output(command: str, reply: Any) -> Any:
    if command == "LRANGE":
        return tuple(one.decode() for one in reply)
    if command in ("GET", "GETSET"):
        return None if reply is None else reply.decode()
    return reply if command == "RPUSH" else None


def _forget(future: asyncio.Future[Any]) -> None:
    """Its failure is that of the command that follows."""
    future.add_done_callback(lambda one: one.cancelled() or one.exception())
