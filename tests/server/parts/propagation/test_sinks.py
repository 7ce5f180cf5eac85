"""The stream of operations reaches every sink, the durability first."""

from __future__ import annotations

import pytest

from server.parts.propagation.propagation import Durability, Op, Propagation


class Recorder(Durability):
    """A sink that remembers what it took, and a durability that may fail."""

    def __init__(self, told: list[str], name: str) -> None:
        super().__init__()
        self.units: list[list[Op]] = []
        self.fails = False
        self._told, self._name = told, name

    def add_all(self, ops: list[Op]) -> None:
        if self.fails:
            raise OSError("no room")
        self._told.append(self._name)
        self.units.append(ops)
        self.offset += 1

    def write(self) -> bool:
        return True


def test_nothing_is_collected_without_a_sink() -> None:
    propagation = Propagation()
    propagation.add(0, [b"SET", b"a", b"1"])
    assert propagation.ops == []
    assert propagation.deliver() == 0


def test_each_sink_gets_each_transaction_and_the_durability_is_first() -> None:
    told: list[str] = []
    propagation = Propagation()
    feed, log = Recorder(told, "feed"), Recorder(told, "log")
    propagation.attach(feed)
    propagation.set_durability(log)
    propagation.add(0, [b"SET", b"a", b"1"])
    propagation.add(3, [b"DEL", b"b"])
    assert propagation.deliver() == 1
    assert feed.units == log.units == [[(0, [b"SET", b"a", b"1"]), (3, [b"DEL", b"b"])]]
    assert told == ["log", "feed"]


def test_a_message_goes_to_the_sinks_in_its_place_and_not_to_the_durability() -> None:
    propagation = Propagation()
    feed, log = Recorder([], "feed"), Recorder([], "log")
    propagation.attach(feed)
    propagation.set_durability(log)
    propagation.publish(0, [b"PUBLISH", b"c", b"m"])
    propagation.add(0, [b"DEL", b"a"])
    propagation.deliver()
    assert feed.units == [[(0, [b"PUBLISH", b"c", b"m"]), (0, [b"DEL", b"a"])]]
    assert log.units == [[(0, [b"DEL", b"a"])]]
    propagation.publish(0, [b"PUBLISH", b"c", b"m"])
    propagation.deliver()
    assert len(feed.units) == 2
    assert len(log.units) == 1


def test_a_message_is_not_kept_by_the_durability_if_each_op_stands_for_itself() -> None:
    propagation = Propagation()
    feed, log = Recorder([], "feed"), Recorder([], "log")
    propagation.attach(feed)
    propagation.set_durability(log)
    propagation.publish(0, [b"PUBLISH", b"c", b"m"])
    propagation.add(0, [b"DEL", b"a"])
    propagation.deliver_each()
    assert feed.units == [[(0, [b"PUBLISH", b"c", b"m"])], [(0, [b"DEL", b"a"])]]
    assert log.units == [[(0, [b"DEL", b"a"])]]


def test_a_message_of_a_script_that_was_left_is_still_one_when_it_ends() -> None:
    propagation = Propagation()
    feed, log = Recorder([], "feed"), Recorder([], "log")
    propagation.attach(feed)
    propagation.set_durability(log)
    propagation.publish(0, [b"PUBLISH", b"c", b"m"])
    put_away, propagation.ops = propagation.ops, []
    propagation.add(0, [b"DEL", b"a"])
    propagation.deliver()
    propagation.ops = put_away
    propagation.deliver()
    assert log.units == [[(0, [b"DEL", b"a"])]]
    assert len(feed.units) == 2


def test_a_sink_needs_no_durability_and_gets_nothing_once_detached() -> None:
    propagation = Propagation()
    feed = Recorder([], "feed")
    propagation.attach(feed)
    propagation.add(0, [b"DEL", b"a"])
    propagation.add(0, [b"DEL", b"b"])
    propagation.deliver_each()
    propagation.detach(feed)
    propagation.add(0, [b"DEL", b"c"])
    propagation.deliver()
    assert feed.units == [[(0, [b"DEL", b"a"])], [(0, [b"DEL", b"b"])]]


def test_no_sink_sees_what_the_durability_could_not_take() -> None:
    propagation = Propagation()
    feed, log = Recorder([], "feed"), Recorder([], "log")
    propagation.attach(feed)
    propagation.set_durability(log)
    log.fails = True
    propagation.add(0, [b"DEL", b"a"])
    with pytest.raises(OSError, match="no room"):
        propagation.deliver()
    assert feed.units == []
    log.fails = False
    propagation.add(0, [b"DEL", b"b"])
    propagation.deliver()
    assert feed.units == [[(0, [b"DEL", b"a"]), (0, [b"DEL", b"b"])]]
