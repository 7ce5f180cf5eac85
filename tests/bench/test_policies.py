"""What policies cost, and a flow through them: that the figures are made of what they say."""

from __future__ import annotations

import random

import pytest

from bench import policies, queue_flow
from bench.peers import Peer
from bench.policies import ALONE, PART, POLICIES, Cost, Pair, Sizes
from bench.queue_flow import Latencies
from bench.servers import PENSTOCK, Server


def test_the_line_of_a_policy_has_the_medians_and_their_ratios() -> None:
    plain = [Cost(2.0, 1.0), Cost(4.0, 2.0), Cost(3.0, 1.5)]
    costs = [Cost(2.1, 1.5), Cost(4.2, 3.0), Cost(3.15, 2.25)]
    line = policies.line(POLICIES[1], list(map(Pair, costs, plain))).split()
    assert line == ["VISIBILITY", "3.15", "1.05", "2.25", "1.50", "more", "than", "1.10"]
    assert "more" not in policies.line(POLICIES[0], list(map(Pair, plain, plain)))


def test_quantiles_count_answers() -> None:
    latencies = Latencies()
    latencies.note(0.001, 989)
    latencies.note(0.005, 10)
    latencies.note(0.100)
    assert latencies.quantiles() == [1.0, 5.0, 5.0, 100.0]


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.title for policy in POLICIES])
def test_each_policy_can_be_measured(policy: policies.Policy) -> None:
    with Server("ours", PENSTOCK) as server:
        pairs = policies.measure(server, policy, Sizes(2 * PART, 16, 10), random.Random(1))
    assert len(pairs) == (ALONE if policy.is_later else 1)
    for cost in (cost for pair in pairs for cost in (pair.cost, pair.without)):
        assert cost.added > 0 and cost.read > 0


def test_only_the_measured_stream_has_the_policy() -> None:
    policy = next(policy for policy in POLICIES if policy.title == "ORDERBY, 1000 values")
    with Server("ours", PENSTOCK) as server:
        policies.measure(server, policy, Sizes(PART, 16, 10), random.Random(1))
        with server.client() as client:
            assert b"device" in client.call("XGROUP", "CFGGET", "jobs", "workers")
            assert b"device" not in client.call("XGROUP", "CFGGET", "none", "workers")
            for key in ("jobs", "none"):
                assert client.call("XLEN", key) == PART
                assert client.call("XPENDING", key, "workers")[0] == 0


def test_all_that_flows_is_acknowledged_or_dead(capsys: pytest.CaptureFixture[str]) -> None:
    queue_flow.main(["--rate", "2000", "--seconds", "0.5", "--alone"])
    assert "1,000 entries" in capsys.readouterr().out


def test_the_same_flows_through_a_group_without_policies(
    capsys: pytest.CaptureFixture[str],
) -> None:
    queue_flow.without(Peer("a server", PENSTOCK), 2000, 0.5)
    told = capsys.readouterr().out.split()
    assert told[:2] == ["a", "server"]
    assert len(told) == 2 + 1 + 10
