"""python -m bench.policies: what each policy of a stream, or of its groups, costs the server.

Entries of three fields are added by XADD, sixteen in a pipeline. After every thousand they are read
by XREADGROUP COUNT 10, and acknowledged by one XACK for each ten (--depth and --count say
otherwise), as by a consumer that keeps up. Where most entries wait for others, it has one answer
before it asks again, with a policy and without; a row without an aim shows what it costs to ask for
what has to wait.

What counts is the server's CPU time, and its ratio to that without a policy. A machine is not
equally fast for long. So a stream without a policy stands beside the one that has it, and entries
go through each in turn, a thousand at a time: the ratio is the median of all these pairs. What a
policy does in the background would fall to whichever has its turn then. So such a stream is alone
on the server for a round, with one without a policy right before or after it. As root, server and
load run before all else on their CPUs.
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
PART = 1_000  # entries that are added, and then read
ALONE = 3  # rounds of a policy that works in the background, for one of another
MOST = 1.10  # the aim: the largest ratio
SETTINGS = ("--hz", "10")
SETTLE_S = 0.05  # in which the server frees what it held before


@dataclass(frozen=True)
class Policy:
    """What is set before a round: of the *group*, of the *stream*, and what XADD has, too.

    *values* says how many values of the first field take turns, *reads* how many reads are sent at
    once (0: as many as all are), *has_aim* whether it is to cost at most MOST, *is_later* whether
    the server does some of its work in the background.
    """

    title: str
    group: str = ""
    stream: str = ""
    add: tuple[Argument, ...] = ()
    values: int = 1000
    reads: int = 0
    has_aim: bool = True
    is_later: bool = False


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
    Policy("RETAIN-LENGTH 1000", stream="RETAIN-LENGTH 1000", is_later=True),
    Policy("RETAIN-BYTES 100kb", stream="RETAIN-BYTES 100kb", is_later=True),
    Policy("RETAIN-ACKED", stream="RETAIN-ACKED yes", is_later=True),
    Policy("COMPACT, nothing goes", stream="COMPACT nosuch"),
    Policy("COMPACT, 100 values", stream="COMPACT device", values=100, is_later=True),
    Policy("EXPIRE", add=("EXPIRE", 600_000)),
)


@dataclass(frozen=True)
class Sizes:
    """Of a round: its *entries*, the *depth* of pipelines, the *count* of XREADGROUP."""

    entries: int
    depth: int
    count: int


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


class Flow:
    """A stream with a group and a *policy*: entries are added to it, read and acknowledged."""

    def __init__(
        self, server: Server, client: Client, key: str, policy: Policy, sizes: Sizes
    ) -> None:
        self._server, self._client, self._key = server, client, key
        self._depth, self._reads, self._count = sizes.depth, policy.reads, sizes.count
        self._adding = self._reading = 0.0  # seconds
        self._added = self._read = 0
        field, _, *others = FIELDS
        adds: list[Command] = [
            ("XADD", key, *policy.add, "*", field, f"sensor-{number:04}", *others)
            for number in range(policy.values)
        ]
        self._entries = cycle(adds)
        client.call("XGROUP", "CREATE", key, "workers", 0, "MKSTREAM")
        if policy.group:
            client.call("XGROUP", "CFGSET", key, "workers", *policy.group.split())
        if policy.stream:
            client.call("XCFGSET", key, *policy.stream.split())

    def run(self) -> None:
        """Let PART entries go through the stream."""
        before = cpu_seconds(self._server.pid)
        self._client.load(islice(self._entries, PART), self._depth)
        between = cpu_seconds(self._server.pid)
        self._read += self._read_all(self._reads or self._depth)
        self._reading += cpu_seconds(self._server.pid) - between
        self._adding += between - before
        self._added += PART

    def cost(self) -> Cost:
        """Of what went through since the last time. By a policy, some may have gone unread."""
        cost = Cost(self._adding / self._added * 1e6, self._reading / max(self._read, 1) * 1e6)
        self._adding = self._reading = 0.0
        self._added = self._read = 0
        return cost

    def _read_all(self, reads: int) -> int:
        """Read and acknowledge all that the group has not been given; return how many."""
        read: Command = (
            "XREADGROUP", "GROUP", "workers", "w", "COUNT", self._count, "STREAMS", self._key, ">",
        )  # fmt: skip
        found = 0
        while True:
            replies = self._client.answers([read] * reads)
            parts = [[entry[0] for entry in reply[0][1]] for reply in replies if reply]
            if not parts:
                return found
            found += sum(map(len, parts))
            acks = (("XACK", self._key, "workers", *ids) for ids in parts)
            self._client.load(acks, self._depth)


def main() -> int:
    """Measure, and print a line for each policy. The exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.policies", description=__doc__)
    parser.add_argument("--entries", type=int, default=20_000, help="in a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=10, help="(default: %(default)s)")
    parser.add_argument("--depth", type=int, default=DEPTH, help="pipeline (default: %(default)s)")
    parser.add_argument("--count", type=int, default=COUNT, help="of XREADGROUP (%(default)s)")
    parser.add_argument("--only", default="", help="those whose names have this in them")
    options = parser.parse_args()
    pin_generator()
    print(report.machine())
    print(report.neighbours())
    command = os.environ.get("PENSTOCK_COMMAND", PENSTOCK)
    chosen = [policy for policy in POLICIES if options.only.lower() in policy.title.lower()]
    sizes = Sizes(options.entries, options.depth, options.count)
    with Server("ours", command, *SETTINGS) as server, undisturbed(server.pid):
        pairs: dict[Policy, list[Pair]] = {policy: [] for policy in chosen}
        order = random.Random(1)
        for number in range(options.rounds + 1):  # the first one is a warm-up
            progress.say(f"round {number} of {options.rounds}")
            order.shuffle(chosen)  # each bears in its turn what another one has left behind
            for policy in chosen:
                found = measure(server, policy, sizes, order)
                if number:
                    pairs[policy] += found
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


def measure(server: Server, policy: Policy, sizes: Sizes, order: random.Random) -> list[Pair]:
    """The pairs of a round, or of ALONE rounds if the policy works in the background."""
    without = replace(NONE, reads=policy.reads)
    if not policy.is_later:
        return side_by_side(server, policy, without, sizes, order)
    pairs = []
    for _ in range(ALONE):
        costs: dict[bool, Cost] = {}
        for has_policy in order.sample((False, True), 2):
            costs[has_policy] = alone(server, policy if has_policy else without, sizes)
        pairs.append(Pair(costs[True], costs[False]))
    return pairs


def alone(server: Server, policy: Policy, sizes: Sizes) -> Cost:
    """The cost of a round on an empty server."""
    with emptied(server) as client:
        flow = Flow(server, client, "jobs", policy, sizes)
        for _ in range(0, sizes.entries, PART):
            flow.run()
        return flow.cost()


def side_by_side(
    server: Server, policy: Policy, without: Policy, sizes: Sizes, order: random.Random
) -> list[Pair]:
    """A pair for each PART but the first, which are added to two streams in turn."""
    pairs = []
    with emptied(server) as client:
        flow = Flow(server, client, "jobs", policy, sizes)
        other = Flow(server, client, "none", without, sizes)
        for first in range(0, sizes.entries, PART):
            for one in order.sample((flow, other), 2):
                one.run()
            pair = Pair(flow.cost(), other.cost())
            if first:
                pairs.append(pair)
    return pairs


def emptied(server: Server) -> Client:
    """A client of the server, which has nothing any more."""
    client = server.client()
    client.call("FLUSHALL")
    time.sleep(SETTLE_S)
    return client


if __name__ == "__main__":
    sys.exit(main())
