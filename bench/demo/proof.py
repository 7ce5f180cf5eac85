"""The checks at the end: nothing is lost, acknowledged twice, or left pending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import redis

from bench.demo.dataset import digest, digest_of_all
from bench.demo.names import STREAM, ledger, refused

PAGE = 1000


@dataclass(frozen=True)
class Account:
    """What a stream holds, or what a group has acknowledged according to its ledger."""

    total: int
    distinct: int  # ids
    digest: int
    by_consumer: Counter[tuple[str, str]]  # (consumer, how) -> entries


@dataclass(frozen=True)
class Fact:
    """A check: its text, the expected value, and the value found."""

    text: str
    expected: object
    found: object

    @property
    def holds(self) -> bool:
        return self.expected == self.found


def account_of_stream(server: redis.Redis) -> Account:
    """Walk the stream from end to end."""
    ids: set[bytes] = set()
    digests = []
    start = "-"
    while page := _entries(server.xrange(STREAM, start, "+", count=PAGE)):
        ids.update(entry_id for entry_id, _ in page)
        digests += [digest(fields) for _, fields in page]
        start = "(" + page[-1][0].decode()
    return Account(len(digests), len(ids), digest_of_all(digests), Counter())


def account_of_group(server: redis.Redis, group: str) -> Account:
    """Add up the ledger."""
    lines: Any = server.lrange(ledger(group), 0, -1)
    items = [line.decode().split() for line in lines]
    return Account(
        total=len(items),
        distinct=len({entry_id for entry_id, *_ in items}),
        digest=digest_of_all(int(number, 16) for _, number, *_ in items),
        by_consumer=Counter((consumer, how) for *_, consumer, how in items),
    )


def facts_of_stream(server: redis.Redis, total: int, whole: int) -> Iterator[Fact]:
    """The checks of the producers: the stream holds *total* records with the digest *whole*."""
    account = account_of_stream(server)
    yield Fact("entries in the stream", total, account.total)
    yield Fact("different ids", total, account.distinct)
    yield Fact("digest of their contents", f"{whole:016x}", f"{account.digest:016x}")


def facts_of_group(
    server: redis.Redis, group: str, account: Account, total: int, whole: int
) -> Iterator[Fact]:
    """The checks of one consumer group."""
    state: Any = next(g for g in _groups(server) if g["name"] == group.encode())
    again: Any = server.get(refused(group))
    yield Fact(f"{group}: acknowledged", total, account.total)
    yield Fact(f"{group}: different ids among them", total, account.distinct)
    yield Fact(f"{group}: digest of their contents", f"{whole:016x}", f"{account.digest:016x}")
    yield Fact(f"{group}: acknowledged a second time", 0, int(again or 0))
    yield Fact(f"{group}: still pending", 0, state["pending"])
    yield Fact(f"{group}: not yet read (lag)", 0, state["lag"])


def _groups(server: redis.Redis) -> list[dict[str, Any]]:
    groups: Any = server.xinfo_groups(STREAM)
    return list(groups)


def _entries(answer: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    return list(answer)
