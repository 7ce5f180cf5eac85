"""A million commands through redis-cli --pipe, counted afterwards."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import redis

from bench.client import Command, encode
from bench.demo.dataset import packages

STREAMS, LISTS = 4, 8
CHUNK = 10_000


@dataclass(frozen=True)
class Loaded:
    """What redis-cli reported, and what the server holds afterwards."""

    commands: int
    replies: int
    errors: int
    held: int
    seconds: float

    @property
    def good(self) -> bool:
        return self.errors == 0 and self.commands == self.replies == self.held


def load(server: redis.Redis, port: int, commands: int) -> Loaded:
    """Write the file, pipe it in, count; the keys are removed again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "commands"
        _write(path, commands)
        began = time.perf_counter()
        with path.open("rb") as file:
            ran = subprocess.run(
                ["redis-cli", "-p", str(port), "--pipe"],
                stdin=file,
                capture_output=True,
                text=True,
                check=False,
            )
        seconds = time.perf_counter() - began
    report = re.search(r"errors: (\d+), replies: (\d+)", ran.stdout)
    errors, replies = (int(number) for number in report.groups()) if report else (-1, -1)
    held = _count(server)
    _remove(server)
    return Loaded(commands, replies, errors, held, seconds)


def _commands() -> Iterator[Command]:
    """XADD, RPUSH and SET in turn, with the names of packages, without end."""
    names = cycle([record.get(b"Package", b"?") for record in packages()] or [b"penstock"])
    number = 0
    while True:
        name = next(names)
        yield ("XADD", f"mass:stream:{number % STREAMS}", f"1-{number + 1}", "package", name)
        yield ("RPUSH", f"mass:list:{number % LISTS}", name)
        yield ("SET", f"mass:key:{number}", name)
        number += 1


def _write(path: Path, commands: int) -> None:
    remaining = islice(_commands(), commands)
    with path.open("wb") as file:
        while chunk := b"".join(map(encode, islice(remaining, CHUNK))):
            file.write(chunk)


def _count(server: redis.Redis) -> int:
    """Entries, items and keys that the commands have left: one each."""
    entries = sum(_number(server.xlen(f"mass:stream:{n}")) for n in range(STREAMS))
    items = sum(_number(server.llen(f"mass:list:{n}")) for n in range(LISTS))
    return entries + items + sum(1 for _ in server.scan_iter("mass:key:*", count=CHUNK))


def _remove(server: redis.Redis) -> None:
    batch = server.scan_iter("mass:*", count=CHUNK)
    while keys := list(islice(batch, CHUNK)):
        server.unlink(*keys)


def _number(answer: Any) -> int:
    return int(answer)
