"""The bytes that replication has moved."""

from __future__ import annotations

from typing import cast

from server.parts.replication.replica import Replica
from server.parts.replication.traffic import Traffic


class Written:
    """A replica as far as its traffic is concerned."""

    def __init__(self, size: int) -> None:
        self.written = size


def test_what_was_sent_to_replicas_that_have_gone_still_counts() -> None:
    one, other = cast(Replica, Written(100)), cast(Replica, Written(50))
    replicas = [one, other]
    traffic = Traffic(replicas)
    traffic.reset()
    one.written = 400
    assert traffic.sent == 300
    traffic.left(one)
    replicas.remove(one)
    traffic.left(one)  # it is told once more
    assert traffic.sent == 300


def test_rates_follow_what_comes_and_goes() -> None:
    traffic = Traffic([])
    for second in range(20):
        traffic.received = second * 2048
        traffic.tick(second * 1000)
    assert traffic.rates.per_second("received") == 2 * 1024
    assert traffic.rates.per_second("sent") == 0
