"""How many replicas are a quorum, which of them count, and the lease."""

from __future__ import annotations

import pytest

from server.client.client import Client
from server.config.parameters import Config
from server.parts.propagation.propagation import Propagation
from server.parts.replication.feed import Feed
from server.parts.replication.history import History
from server.parts.replication.own_disk import OwnDisk
from server.parts.replication.quorum import Quorum
from server.parts.replication.replica import Replica, Stage
from server.parts.replication.replicas import Replicas


class Group:
    """A primary with replicas that tell what a test wants them to."""

    def __init__(self, **parameters: int) -> None:
        config = Config()
        for name, value in parameters.items():
            setattr(config, name, value)
        propagation = Propagation()
        feed = Feed(propagation, History("a" * 40))
        self.replicas = Replicas(config, feed)
        self.quorum = Quorum(config, self.replicas, OwnDisk(propagation, feed))

    def joins(self, begins_at: int = 0, port: int = 0) -> Replica:
        replica = Replica(Client(1, 0))
        replica.stage = Stage.ONLINE
        replica.begin(begins_at)
        replica.announced, replica.port = "10.0.0.1", port
        self.replicas.all.append(replica)
        return replica

    def acks(self, replica: Replica, offset: int, now_ms: int) -> None:
        replica.acked, replica.acked_ms = offset, now_ms
        self.quorum.heard(replica, now_ms)

    def leaves(self, replica: Replica, now_ms: int) -> None:
        self.quorum.left(replica, now_ms)
        self.replicas.all.remove(replica)


@pytest.mark.parametrize(("of", "needed"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)])
def test_a_quorum_is_a_majority_with_the_primary(of: int, needed: int) -> None:
    assert Group(replica_quorum_of=of).quorum.needed == needed


def test_the_group_is_as_large_as_it_was_at_once_and_begins_with_one_replica() -> None:
    group = Group()
    assert (group.quorum.group_replicas, group.quorum.needed) == (1, 1)
    replicas = [group.joins() for _ in range(3)]
    for replica in replicas:
        group.acks(replica, 1, 0)
    assert (group.quorum.group_replicas, group.quorum.needed) == (3, 2)
    for replica in replicas[:2]:
        group.leaves(replica, 5)
    group.acks(replicas[2], 9, 6)
    assert group.quorum.needed == 2
    assert group.quorum.confirmed(False, 7) == 0  # one is no quorum of three
    group.quorum.begin()
    assert group.quorum.needed == 1


def test_without_a_lease_any_quorum_confirms() -> None:
    group = Group()
    one, other = group.joins(), group.joins()
    group.acks(one, 50, 0)
    group.acks(other, 80, 0)
    assert group.quorum.confirmed(False, 0) == 80
    assert group.quorum.holds(10**9)


def test_a_lease_counts_from_when_replicas_were_asked_not_from_when_the_answer_came() -> None:
    group = Group(replica_quorum_lease=1000)
    replica = group.joins()
    assert not group.quorum.holds(0)  # nobody was heard yet
    group.quorum.asked(10, 100)
    group.acks(replica, 9, 5000)  # it is not that answer
    assert not group.quorum.holds(5000)
    group.quorum.asked(20, 5500)
    group.acks(replica, 10, 6000)
    assert not group.quorum.holds(6000)  # it came late: the machine has slept
    group.acks(replica, 25, 6100)
    assert group.quorum.holds(6499)
    assert not group.quorum.holds(6500)


def test_a_replica_that_has_come_counts_after_one_lease() -> None:
    group = Group(replica_quorum_lease=1000)
    replica = group.joins()
    group.acks(replica, 10, 100)
    assert group.quorum.confirmed(False, 1099) == 0
    assert group.quorum.confirmed(False, 1100) == 10


def test_with_a_lease_all_have_it_that_are_there_or_have_gone_lately() -> None:
    group = Group(replica_quorum_lease=1000, replica_quorum_grace=5000)
    one, other = group.joins(), group.joins()
    group.acks(one, 50, 0)
    group.acks(other, 80, 0)
    assert group.quorum.confirmed(False, 2000) == 50
    group.acks(one, 60, 2000)
    group.leaves(one, 2000)
    group.acks(other, 90, 2001)
    assert group.quorum.confirmed(False, 6999) == 60
    assert group.quorum.confirmed(False, 7000) == 90


def test_a_replica_that_is_mute_is_waited_for_as_one_that_has_gone() -> None:
    group = Group(replica_quorum_lease=1000, replica_quorum_grace=5000)
    one, other = group.joins(), group.joins()
    group.acks(one, 50, 0)
    group.acks(other, 80, 4000)
    assert group.quorum.confirmed(False, 4999) == 50
    assert group.quorum.confirmed(False, 5000) == 80


def test_a_replica_that_never_tells_it_has_its_copy_counts_nowhere() -> None:
    """As redis-cli --replica, which tells 0, and the links of replicas that have not come yet."""
    group = Group(replica_quorum_lease=1000, replica_quorum_grace=5000)
    one, tool, mute = group.joins(), group.joins(begins_at=40), group.joins(9)
    mute.acked = 9  # as it has asked for what follows
    group.acks(tool, 0, 0)
    group.acks(one, 50, 0)
    assert (group.quorum.group_replicas, group.quorum.needed) == (1, 1)
    assert group.quorum.confirmed(False, 1000) == 50
    group.leaves(tool, 1000)
    group.leaves(mute, 1000)
    assert group.quorum.confirmed(False, 1000) == 50


def test_a_replica_counts_from_when_it_has_its_copy() -> None:
    group = Group()
    replica = group.joins(begins_at=40)
    group.acks(replica, 39, 0)
    assert group.quorum.confirmed(False, 0) == 0
    group.acks(replica, 40, 1)
    assert group.quorum.confirmed(False, 1) == 40


def test_a_replica_that_is_back_with_as_much_is_not_waited_for() -> None:
    group = Group(replica_quorum_lease=1000, replica_quorum_grace=50_000)
    one, other = group.joins(port=7001), group.joins(port=7002)
    group.acks(one, 50, 0)
    group.acks(other, 80, 0)
    group.leaves(one, 2000)
    again = group.joins(port=7001)
    group.acks(again, 49, 2100)  # it has lost something
    group.leaves(again, 2200)
    assert group.quorum.confirmed(False, 2300) == 49
    again = group.joins(port=7001)
    group.acks(again, 70, 2300)
    assert group.quorum.confirmed(False, 2300) == 70
    group.acks(again, 99, 2400)
    assert group.quorum.confirmed(False, 2400) == 80


def test_one_that_has_gone_without_a_port_is_waited_for() -> None:
    group = Group(replica_quorum_lease=1000, replica_quorum_grace=5000)
    one, other = group.joins(), group.joins()
    group.acks(one, 50, 0)
    group.acks(other, 80, 0)
    group.leaves(one, 2000)
    assert group.quorum.confirmed(False, 2000) == 50


def test_two_links_of_a_replica_are_one_and_the_newer_counts() -> None:
    """The primary may learn late that the older one is dead."""
    group = Group(replica_quorum_lease=1000, replica_quorum_grace=50_000)
    old, other = group.joins(port=7001), group.joins(port=7002)
    group.acks(old, 50, 0)
    group.acks(other, 80, 0)
    new = group.joins(port=7001)
    group.acks(new, 90, 2000)
    assert group.quorum.group_replicas == 2
    assert group.quorum.confirmed(False, 3000) == 80
    group.leaves(old, 3000)
    assert group.quorum.confirmed(False, 3000) == 80


def test_fsync_counts_disks_and_others_need_no_log() -> None:
    group = Group(replica_quorum_lease=1000)
    one, other = group.joins(), group.joins()
    group.acks(one, 50, 0)
    group.acks(other, 80, 0)
    other.fsynced = 40
    assert group.quorum.confirmed(True, 2000) == 40
