"""python -m bench.policies: what each policy of a stream, or of its groups, costs the server.

Entries of three fields are added by XADD, sixteen in a pipeline. After every two thousand they are
read by XREADGROUP COUNT 10, and acknowledged by one XACK for each ten (--depth and --count say
otherwise), as by a consumer that keeps up. Where most entries wait for others, it has one answer
before it asks again, with a policy and without; a row without an aim shows what it costs to ask for
what has to wait. The server does so with each policy, for some rounds,
each time in another order; and without a policy right before or right after it, since a machine is
not equally fast for long. What counts is the server's CPU time: the median of the rounds, and the
median of the ratios to the time without a policy. It has what cron does meanwhile in it: what a
stream gives up is removed in that time. As root, server and load run before all else on their CPUs.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from dataclasses import dataclass, replace
from itertools import cycle, islice
from statistics import median

from bench import progress, report
from bench.client import Argument, Client, Command
from bench.servers import PENSTOCK, Server, cpu_seconds, pin_generator, undisturbed
from bench.workloads import FIELDS

DEPTH = 16
COUNT = 10
PART = 2_000  # entries that are added, and then read
MOST = 1.10  # the aim: the largest ratio
SETTINGS = ("--hz", "10")
SETTLE_S = 0.05  # in which the server frees what it held before


@dataclass(frozen=True)
class Policy:
    """What is set before a round: of the *group*, of the *stream*, and what XADD has, too.

    *values* says how many values of the first field take turns, *reads* how many reads are sent at
    once (0: as many as all are), *has_aim* whether it is to cost at most MOST.
    """

    title: str
    group: str = ""
    stream: str = ""
    add: tuple[Argument, ...] = ()
    values: int = 1000
    reads: int = 0
    has_aim: bool = True


NONE = Policy("none")
POLICIES = (
    NONE,
    Policy("VISIBILITY", "VISIBILITY 30000"),
    Policy("MAXDELIVERIES", "VISIBILITY 30000 MAXDELIVERIES 5 DEADLETTER dead MKSTREAM"),
    Policy("BACKOFF", "VISIBILITY 30000 BACKOFF 1000 5000"),
    Policy("MAXPENDING", "MAXPENDING 1000000"),
    Policy("MAXPENDINGPERCONSUMER", "MAXPENDINGPERCONSUMER 1000000"),
    Policy("ACTIVE", "ACTIVE 1 TIMEOUT 30000"),
    Policy("CONSUMERTIMEOUT", "CONSUMERTIMEOUT 600000"),
    Policy("ORDERBY, 1000 values", "ORDERBY device"),
    Policy("ORDERBY, 10 values", "ORDERBY device", values=10, reads=1),
    Policy("ORDERBY, 10 values, 160 asked for", "ORDERBY device", values=10, has_aim=False),
    Policy("RETAIN-AGE, nothing goes", stream="RETAIN-AGE 7d"),
    Policy("RETAIN-LENGTH, nothing goes", stream="RETAIN-LENGTH 100000000"),
    Policy("RETAIN-LENGTH 1000", stream="RETAIN-LENGTH 1000"),
    Policy("RETAIN-BYTES 100kb", stream="RETAIN-BYTES 100kb"),
    Policy("RETAIN-ACKED", stream="RETAIN-ACKED yes"),
    Policy("COMPACT, nothing goes", stream="COMPACT nosuch"),
    Policy("COMPACT, 100 values", stream="COMPACT device", values=100),
    Policy("EXPIRE", add=("EXPIRE", 600_000)),
)


@dataclass(frozen=True)
class Cost:
    """Microseconds of the server's CPU for an entry that is added, and for one that is read."""

    added: float
    read: float


@dataclass(frozen=True)
class Pair:
    """The *cost* with a policy, and *without* one in the same moment."""

    cost: Cost
    without: Cost


def main() -> int:
    """Measure, and print a line for each policy. The exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.policies", description=__doc__)
    parser.add_argument("--entries", type=int, default=20_000, help="in a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="(default: %(default)s)")
    parser.add_argument("--depth", type=int, default=DEPTH, help="pipeline (default: %(default)s)")
    parser.add_argument("--count", type=int, default=COUNT, help="of XREADGROUP (%(default)s)")
    parser.add_argument("--only", default="", help="those whose names have this in them")
    options = parser.parse_args()
    pin_generator()
    print(report.machine())
    print(report.neighbours())
    command = os.environ.get("PENSTOCK_COMMAND", PENSTOCK)
    chosen = [policy for policy in POLICIES if options.only.lower() in policy.title.lower()]
    sizes = options.entries, options.depth, options.count
    with Server("ours", command, *SETTINGS) as server, undisturbed(server.pid):
        pairs: dict[Policy, list[Pair]] = {policy: [] for policy in chosen}
        order = random.Random(1)
        for number in range(options.rounds + 1):  # the first one is a warm-up
            progress.say(f"round {number} of {options.rounds}")
            order.shuffle(chosen)  # each bears in its turn what another one has left behind
            for policy in chosen:
                costs: dict[bool, Cost] = {}
                for has_policy in order.sample((False, True), 2):
                    measured = policy if has_policy else replace(NONE, reads=policy.reads)
                    costs[has_policy] = measure(server, measured, *sizes)
                if number:
                    pairs[policy].append(Pair(costs[True], costs[False]))
    progress.clear()
    print(f"{'us of CPU an entry':34}{'XADD':>8}{'ratio':>8}{'XREADGROUP, XACK':>20}{'ratio':>8}")
    for policy, found in pairs.items():
        print(line(policy, found))
    return 0


def line(policy: Policy, pairs: list[Pair]) -> str:
    """A line of the table."""
    added = median(pair.cost.added for pair in pairs)
    read = median(pair.cost.read for pair in pairs)
    add_ratio = median(pair.cost.added / pair.without.added for pair in pairs)
    read_ratio = median(pair.cost.read / pair.without.read for pair in pairs)
    missed = "  more than 1.10" if policy.has_aim and max(add_ratio, read_ratio) > MOST else ""
    return f"{policy.title:34}{added:8.2f}{add_ratio:8.2f}{read:20.2f}{read_ratio:8.2f}{missed}"


def measure(server: Server, policy: Policy, entries: int, depth: int, count: int) -> Cost:
    """A round on an empty server: pipelines of *depth* requests, *count* entries for a reader."""
    with server.client() as client:
        client.call("FLUSHALL")
        time.sleep(SETTLE_S)
        client.call("XGROUP", "CREATE", "jobs", "workers", 0, "MKSTREAM")
        if policy.group:
            client.call("XGROUP", "CFGSET", "jobs", "workers", *policy.group.split())
        if policy.stream:
            client.call("XCFGSET", "jobs", *policy.stream.split())
        field, _, *others = FIELDS
        adds: list[Command] = [
            ("XADD", "jobs", *policy.add, "*", field, f"sensor-{number:04}", *others)
            for number in range(policy.values)
        ]
        entry = cycle(adds)
        adding = reading = 0.0
        read = 0
        for first in range(0, entries, PART):
            before = cpu_seconds(server.pid)
            client.load(islice(entry, min(PART, entries - first)), depth)
            between = cpu_seconds(server.pid)
            read += _read_all(client, policy.reads or depth, count)
            adding += between - before
            reading += cpu_seconds(server.pid) - between
    # By a policy, entries may have gone before they were read.
    return Cost(adding / entries * 1e6, reading / max(read, 1) * 1e6)


def _read_all(client: Client, depth: int, count: int) -> int:
    """Read and acknowledge all that the group has not been given; return how many there were."""
    read: Command = (
        "XREADGROUP", "GROUP", "workers", "w", "COUNT", count, "STREAMS", "jobs", ">",
    )  # fmt: skip
    found = 0
    while True:
        replies = client.answers([read] * depth)
        parts = [[entry[0] for entry in reply[0][1]] for reply in replies if reply]
        if not parts:
            return found
        found += sum(map(len, parts))
        client.load((("XACK", "jobs", "workers", *ids) for ids in parts), depth)


if __name__ == "__main__":
    sys.exit(main())
