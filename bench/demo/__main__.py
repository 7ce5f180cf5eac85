"""python -m bench.demo: producers, and two consumer groups of which one loses a consumer."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import redis

from bench.demo import mass_load, proof
from bench.demo.dataset import ROOT, SOURCES, digest, digest_of_all, records
from bench.demo.kill import kill_while_pending
from bench.demo.names import CONSUMERS, GROUPS, STREAM, connect, ledger, refused
from bench.servers import PENSTOCK, Server, ServerError

ENTRIES = 60_000
MASS = 1_000_000
LIMIT_SECONDS = 90.0
TICK_SECONDS = 0.5
KILL_AT = 0.25  # of the entries acknowledged by the victim's group
VICTIM = (GROUPS[0], CONSUMERS[1])

Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Expected:
    """What the producers will add: the number of records of each source, and their digest."""

    counts: dict[str, int]
    digest: int

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def main() -> int:
    """Run the demo. Returns the exit status: 1 if anything was lost, doubled or left over."""
    parser = argparse.ArgumentParser(prog="python -m bench.demo", description=__doc__)
    parser.add_argument("--port", type=int, help="use the server there (its demo:* keys go)")
    parser.add_argument("--command", default=os.environ.get("PENSTOCK_COMMAND", PENSTOCK))
    parser.add_argument("--entries", type=int, default=ENTRIES, help="of each source, at most")
    parser.add_argument("--mass", type=int, default=MASS, help="commands for redis-cli --pipe")
    options = parser.parse_args()
    with ExitStack() as stack:
        port = options.port
        if port is None:
            port = stack.enter_context(Server("the server", options.command)).port
        server = stack.enter_context(connect(port))
        print(_description(server, port))
        good = _stream_demo(server, port, options.entries)
        good &= _mass_demo(server, port, options.mass)
    print("\nAll of it holds." if good else "\nSomething does not hold.")
    return 0 if good else 1


def _description(server: redis.Redis, port: int) -> str:
    info: Any = server.info("server")
    ours = info.get("penstock_version")
    name = f"Penstock {ours}" if ours else f"redis-server {info.get('redis_version')}"
    return f"Server: {name} on port {port}"


# ---------------------------------------------------------------- the stream


def _stream_demo(server: redis.Redis, port: int, limit: int) -> bool:
    expected = _expectation(limit)
    parts = ", ".join(f"{count:,} of {source}" for source, count in expected.counts.items())
    print(f"Records: {expected.total:,} ({parts})\n")
    _remove_keys(server)
    for group in GROUPS:
        server.xgroup_create(STREAM, group, id="0", mkstream=True)
    with _processes() as start:
        consumers = {
            (group, name): start("consumer", port, group, name)
            for group in GROUPS
            for name in CONSUMERS
        }
        producers = [start("producer", port, source, limit) for source in SOURCES]
        pending = _watch(server, expected.total, producers, consumers[VICTIM])
    good = _prove(server, expected, pending)
    _remove_keys(server)
    return good


def _expectation(limit: int) -> Expected:
    """Make the records here, too, to know what must arrive."""
    digests = {source: [digest(r) for r in records(source, limit)] for source in SOURCES}
    return Expected(
        counts={source: len(some) for source, some in digests.items()},
        digest=digest_of_all(number for some in digests.values() for number in some),
    )


@contextmanager
def _processes() -> Iterator[Any]:
    """Gives a function that starts a module of the demo; all its processes are ended at the end."""
    started: list[Process] = []

    def start(module: str, *arguments: object) -> Process:
        words = [sys.executable, "-m", f"bench.demo.{module}", *map(str, arguments)]
        started.append(subprocess.Popen(words, cwd=ROOT))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def _watch(server: redis.Redis, total: int, producers: Sequence[Process], victim: Process) -> int:
    """Print the progress and kill the victim; return how many entries it had pending."""
    began = time.monotonic()
    pending = -1
    while (seconds := time.monotonic() - began) < LIMIT_SECONDS:
        done = _acknowledged(server)
        _print_progress(seconds, _number(server.xlen(STREAM)), done)
        if pending < 0 and done[VICTIM[0]] >= total * KILL_AT:
            pending = kill_while_pending(server, victim, *VICTIM)
            print(
                f"{'':10}{' of '.join(reversed(VICTIM))} killed, {pending} entries pending for it"
            )
        if all(count >= total for count in done.values()):
            break
        if any(producer.poll() for producer in producers):
            print(f"{'':10}a producer has failed")
            break
        time.sleep(TICK_SECONDS)
    return pending


def _print_progress(seconds: float, added: int, done: dict[str, int]) -> None:
    groups = "".join(f"   {group} {count:>7,}" for group, count in done.items())
    print(f"{seconds:5.1f} s   added {added:>7,}   acknowledged:{groups}", flush=True)


def _acknowledged(server: redis.Redis) -> dict[str, int]:
    return {group: _number(server.llen(ledger(group))) for group in GROUPS}


def _prove(server: redis.Redis, expected: Expected, pending: int) -> bool:
    accounts = {group: proof.account_of_group(server, group) for group in GROUPS}
    _print_consumers(accounts)
    facts = list(proof.facts_of_stream(server, expected.total, expected.digest))
    for group, account in accounts.items():
        facts += proof.facts_of_group(server, group, account, expected.total, expected.digest)
    claimed = sum(
        count for (_, how), count in accounts[VICTIM[0]].by_consumer.items() if how == "claimed"
    )
    facts.append(proof.Fact(f"{VICTIM[0]}: claimed from the dead consumer", pending, claimed))
    print(f"\n{'':38}{'expected':>18}{'found':>18}")
    for fact in facts:
        print(f"{fact.text:38}{fact.expected!s:>18}{fact.found!s:>18}  {_mark(fact.holds)}")
    return all(fact.holds for fact in facts) and pending > 0


def _print_consumers(accounts: dict[str, proof.Account]) -> None:
    print(f"\n{'group':10}{'consumer':10}{'read':>10}{'claimed':>10}")
    for group, account in accounts.items():
        for name in CONSUMERS:
            read, claimed = (account.by_consumer[name, how] for how in ("read", "claimed"))
            dead = "   killed" if (group, name) == VICTIM else ""
            print(f"{group:10}{name:10}{read:>10,}{claimed:>10,}{dead}")


def _remove_keys(server: redis.Redis) -> None:
    server.delete(STREAM, *(key(group) for group in GROUPS for key in (ledger, refused)))


# ---------------------------------------------------------------- the million commands


def _mass_demo(server: redis.Redis, port: int, commands: int) -> bool:
    print(f"\nredis-cli --pipe with {commands:,} commands ...", flush=True)
    loaded = mass_load.load(server, port, commands)
    print(
        f"{loaded.replies:,} replies, {loaded.errors} errors in {loaded.seconds:.1f} s;"
        f" entries, items and keys counted afterwards: {loaded.held:,}  {_mark(loaded.good)}"
    )
    return loaded.good


def _mark(good: bool) -> str:
    return "ok" if good else "WRONG"


def _number(answer: Any) -> int:
    return int(answer)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ServerError, redis.ConnectionError) as error:
        sys.exit(f"bench.demo: {error}")
