"""Feed hostile bytes to the listpack's check.

``python -m fuzz.listpack_integrity -max_total_time=60`` does so for a minute.

Bytes that pass the check must be a listpack: it can be walked in both directions, dumped unchanged,
and changed at every position. Any exception but Corrupt is a bug. The plain Python guides the
fuzzer, since compiled code cannot; the compiled module, if there is one, must agree with it byte
for byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fuzz import engine
from fuzz.plain import load_as_built, load_plain

NAMES = ("storage.listpack.listpack", "storage.errors")
plain, plain_errors = load_plain(*NAMES)
as_built, errors = load_as_built(*NAMES)
REFUSALS = (plain_errors.Corrupt, errors.Corrupt)


def walk_and_change(module: Any, data: bytes) -> list[object] | None:
    """Everything that can be read from *data* as a listpack; None if it is refused."""
    try:
        listpack = module.Listpack.load(data)
        listpack.check()
    except REFUSALS:
        return None
    assert listpack.dump() == data
    seen: list[object] = list(listpack)
    backward = []
    at = listpack.last()
    while at != -1:
        backward.append(listpack.get(at))
        at = listpack.prev(at)
    assert backward == seen[::-1]
    assert len(listpack) == len(seen)
    for index in range(0, len(seen), max(len(seen) // 8, 1)):
        listpack.replace(listpack.seek(index), data[:100])
        listpack.delete(listpack.seek(-1 - index))
        listpack.prepend(b"%d" % index)
        listpack.check()
        seen.append(listpack.dump())
    return seen


def test_one(data: bytes) -> None:
    """The fuzzer's entry: any exception is a finding."""
    for candidate in (data, (len(data) + 7).to_bytes(4, "little") + b"\xff\xff" + data + b"\xff"):
        assert walk_and_change(plain, candidate) == walk_and_change(as_built, candidate)


def seeds() -> Iterator[bytes]:
    """Listpacks for the fuzzer to start from: elements of each encoding."""
    pack = as_built.Listpack()
    for number in (0, 127, -1, 4095, -32768, 2**23 - 1, -(2**31), 2**63 - 1):
        pack.append(b"%d" % number)
        yield pack.dump()
    for size in (1, 63, 64, 4095, 4096):
        pack.append(b"x" * size)
        yield pack.dump()


if __name__ == "__main__":
    engine.run(test_one, "listpack_integrity", seeds())
