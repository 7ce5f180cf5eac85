"""Files with one flipped bit: ``make flips ARGS="--files 10000 --seed 1"``.

Files are loaded after one bit of them was flipped. That is refused, by the name of the file, and
where it has checksums by a range with that bit in it; or all data are there. Other data than those
that were written would be a fault that nobody notices.

    log         base as a snapshot, two increments: one command a write, many a write, transactions
    commands    the same, with a base of commands
    snapshot    a dump.rdb of several parts, one of them a stream
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from server.parts.persistence.snapshot_loader import LoadFailed
from storage import digest
from tests.server.parts.persistence.fake_files import FakeFiles
from tests.server.parts.persistence.machine import Machine

KINDS = ("log", "commands", "snapshot")
LINE = 35  # bytes of a line with a sum
RANGE = re.compile(r"(?:between the offsets|damaged are the bytes) (\d+) (?:and|to) (\d+)")
SUM_LINES = re.compile(rb"#S[^\r]*\r\n")
TRANSACTIONS = re.compile(rb"\*1\r\n\$5\r\nMULTI.*?EXEC\r\n", re.DOTALL)
PLACES = ("anywhere", "manifest", "sums", "transactions")

State = tuple[bytes, dict[tuple[int, bytes], int]]  # a digest, and when each key expires


class Flip(NamedTuple):
    """One bit of a file."""

    path: Path
    at: int
    bit: int

    def of(self, files: FakeFiles) -> FakeFiles:
        """The disk after that."""
        left = files.after_kill()
        data = bytearray(left.get(self.path))
        data[self.at] ^= 1 << self.bit
        left.put(self.path, bytes(data))
        return left


def disk(kind: str, random: Random) -> tuple[FakeFiles, State]:
    """A disk of that *kind*, and what a server has that loads it."""
    files = FakeFiles()
    machine = Machine(files, **_parameters(kind))
    machine.start()
    _fill(machine, random, 4 if kind == "snapshot" else 1)
    if kind == "snapshot":
        machine.run([b"SAVE"])
    else:
        machine.run([b"BGREWRITEAOF"])
        machine.tick()
        _fill(machine, random, 1)
        assert machine.log.write_and_sync()
        machine.persistence.append_only.rotate()
        _fill(machine, random, 1)
        machine.end()
    return files, state_of(machine)


def _parameters(kind: str) -> dict[str, object]:
    return {"appendonly": kind != "snapshot", "aof_use_rdb_preamble": kind == "log",
            "aof_timestamp_enabled": True}  # fmt: skip


def _fill(machine: Machine, random: Random, times: int) -> None:
    """Run some commands of each kind: one in a turn, many in one, and transactions."""
    for _ in range(times):
        some = [_command(random) for _ in range(60)]
        for argv in some[:20]:
            machine.run(argv)
        machine.run(*some[20:40])
        machine.run([b"MULTI"], *some[40:], [b"EXEC"])
        for _ in range(8):
            machine.run([b"XADD", b"long", b"*", b"f", random.randbytes(5000)])


def _command(random: Random) -> list[bytes]:
    key, number = b"%d" % random.randrange(40), b"%d" % random.getrandbits(30)
    text = random.randbytes(random.randrange(1, 60))
    return random.choice([
        [b"SET", b"text" + key, text], [b"SET", b"late" + key, text, b"PX", b"1" + number],
        [b"INCRBY", b"number" + key, number], [b"RPUSH", b"list" + key, text, number],
        [b"HSET", b"hash" + key, number, text], [b"SADD", b"set" + key, number, text],
        [b"ZADD", b"sorted" + key, number, text], [b"XADD", b"stream" + key, b"*", b"f", text],
        [b"SELECT", b"%d" % random.randrange(3)], [b"DEL", b"text" + key],
    ])  # fmt: skip


def state_of(machine: Machine) -> State:
    """All that *machine* has."""
    databases = machine.state.databases
    expiries = {(db.index, key): db.expiry(key) for db in databases for key in db.table}
    return digest.of_data(databases), expiries


def flip_in(files: FakeFiles, place: str, random: Random) -> Flip | None:
    """A bit at a *place* of PLACES; None if there is no such place."""
    paths = [path for path in files.names if files.get(path) and path.suffix != ".lock"]
    if place == "manifest":
        paths = [path for path in paths if path.suffix == ".manifest"]
    elif place != "anywhere":
        paths = [path for path in paths if path.suffix == ".aof"]
    if not paths:
        return None
    path = random.choice(sorted(paths))
    data = files.get(path)
    spans = [(0, len(data))]
    if place in ("sums", "transactions"):
        pattern = SUM_LINES if place == "sums" else TRANSACTIONS
        spans = [match.span() for match in pattern.finditer(data)] or spans
    at = random.randrange(*random.choice(spans))
    return Flip(path, at, random.randrange(8))


def outcome(files: FakeFiles, kind: str, flip: Flip, written: State) -> str:
    """What a start makes of a flipped bit. Raises AssertionError if that is a fault."""
    machine = Machine(flip.of(files), **_parameters(kind))
    try:
        machine.start()
    except LoadFailed as error:
        text = str(error)
    else:
        assert state_of(machine) == written, f"{flip} was not noticed"
        return "all data are there"
    name = flip.path.name
    assert name in text or flip.path.suffix == ".manifest", f"{flip} is not named: {text}"
    found = RANGE.search(text)
    if found is None:
        return "refused"
    start, end = map(int, found.groups())
    assert start <= flip.at < end + LINE, f"{flip} is not within the range: {text}"
    return "refused, with its range"


def flip_many(count: int, seed: int, kinds: Sequence[str] = KINDS) -> Counter[str]:
    """Flip *count* bits. Returns how often each outcome was seen, by kind and place."""
    random = Random(seed)
    disks = {kind: disk(kind, random) for kind in kinds}
    seen: Counter[str] = Counter()
    while seen.total() < count:
        kind, place = random.choice(kinds), random.choice(PLACES)
        files, written = disks[kind]
        flip = flip_in(files, place, random)
        if flip is not None:
            seen[f"{kind}, {place}: {outcome(files, kind, flip, written)}"] += 1
    return seen


def main(argv: list[str]) -> int:
    """Flip as many bits as *argv* asks for, and tell the outcomes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args(argv)
    for what, count in sorted(flip_many(wanted.files, wanted.seed).items()):
        print(f"{count:7,}  {what}")
    print(f"{wanted.files:7,}  files with a flipped bit; none was loaded with other data")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
