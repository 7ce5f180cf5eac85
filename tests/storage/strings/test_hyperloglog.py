"""HyperLogLogs: both forms have the registers of a naive model; what is corrupt is known."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage.strings import hyperloglog as hll
from tests.storage.strings.murmur import LONGEST_RUN, element_for
from tests.worth import rounds

HEAD = b"HYLL\x01" + bytes(10) + b"\x80"
REGISTERS = len(hll.no_registers())


def registers_of(data: bytearray) -> bytearray:
    registers = hll.no_registers()
    hll.merge_into(registers, data)
    return registers


# ---------------------------------------------------------------------- the hash and the estimate


@pytest.mark.parametrize(
    ("text", "hashed"),
    [
        (b"", 0xD8DFEA6585BC9732),
    ],
)
def test_the_hash_is_that_of_redis(text: bytes, hashed: int) -> None:
    assert hll.murmur(text) == hashed


@pytest.mark.parametrize("make", [hll.new, lambda: bytearray(b"HYLL" + bytes(12 + 12288))])
def test_a_register_is_as_long_as_the_run_of_the_hash(make: Callable[[], bytearray]) -> None:
    """Compiled, all runs of 19 and more were 19 once: a shift was one of 32 bits."""
    data = make()
    for run in range(1, LONGEST_RUN + 1):
        assert hll.add(data, element_for(9 * run, run), 20_000)
    registers = registers_of(data)
    assert [registers[9 * run] for run in range(1, LONGEST_RUN + 1)] == [*range(1, LONGEST_RUN + 1)]


@given(st.binary(max_size=40))
def test_the_hash_has_64_bits_whatever_the_length(text: bytes) -> None:
    assert 0 <= hll.murmur(text) < 2**64
    assert hll.murmur(text + b"\0") != hll.murmur(text)


def test_no_elements_are_estimated_as_none() -> None:
    assert hll.estimate(hll.no_registers()) == 0


def test_registers_that_are_as_great_as_they_can_be_are_estimated() -> None:
    for value in (50, 51, 63):
        found = hll.estimate(bytearray([value]) * REGISTERS)
        assert found == -(2**63)
        data = hll.new()
        hll.keep_estimate(data, found)
        assert hll.kept_estimate(data) == -1
    assert 2**60 < hll.estimate(bytearray([48]) * REGISTERS) < 2**63


@pytest.mark.parametrize("count", [10, 1000, 20_000])
def test_an_estimate_is_near_the_number_of_elements(count: int) -> None:
    data = hll.new()
    for number in range(count):
        hll.add(data, b"element %d" % number, 3000)
    found = hll.estimate(registers_of(data))
    assert abs(found - count) <= count * 0.03


def test_the_estimate_that_is_kept_is_forgotten_when_it_is_stale() -> None:
    data = hll.new()
    assert hll.kept_estimate(data) == 0
    hll.keep_estimate(data, 123_456_789)
    assert hll.kept_estimate(data) == 123_456_789
    hll.mark_stale(data)
    assert hll.kept_estimate(data) == -1


# ---------------------------------------------------------------------- against a naive model


class Registers(RuleBasedStateMachine):
    """Registers are raised, one by one; the form becomes dense when it gets long."""

    @initialize(most=st.sampled_from([18, 30, 200, 3000, 20_000]))
    def begin(self, most: int) -> None:
        self.most = most
        self.data = hll.new()
        self.model = hll.no_registers()

    @rule(
        index=st.integers(0, 40) | st.integers(16_340, 16_383) | st.integers(0, 16_383),
        value=st.integers(1, 4) | st.integers(1, 51),
        count=st.integers(1, 6),
    )
    def raise_some(self, index: int, value: int, count: int) -> None:
        for at in range(index, min(index + count, REGISTERS)):
            raised = hll.raise_register(self.data, at, value, self.most)
            assert raised == (self.model[at] < value)
            self.model[at] = max(self.model[at], value)

    @rule(elements=st.lists(st.binary(max_size=9), max_size=20))
    def add(self, elements: list[bytes]) -> None:
        for element in elements:
            before = registers_of(self.data)
            changed = hll.add(self.data, element, self.most)
            self.model = registers_of(self.data)
            assert changed == (self.model != before)
            assert not hll.add(self.data, element, self.most)

    @rule()
    def make_dense(self) -> None:
        hll.to_dense(self.data)
        assert hll.is_dense(self.data)

    @rule(seed=st.integers(0, 99))
    def merge(self, seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(seed):
            at = dice.randrange(REGISTERS)
            self.model[at] = max(self.model[at], dice.randrange(52))
        hll.raise_registers(self.data, self.model, self.most)

    @invariant()
    def has_the_registers_of_the_model(self) -> None:
        assert hll.is_one(self.data)
        assert hll.is_whole(self.data)
        assert registers_of(self.data) == self.model
        assert hll.is_dense(self.data) or len(self.data) <= max(self.most, 18)


Registers.TestCase.settings = settings(
    max_examples=rounds(40), stateful_step_count=30, deadline=None
)
TestRegisters = Registers.TestCase


def test_equal_neighbours_become_one_opcode() -> None:
    data = hll.new()
    for index in (0, 1, 2, 3, 4):
        hll.raise_register(data, index, 7, 3000)
    assert hll.description_of(data) == b"v:7,4 v:7,1 Z:16379"
    hll.raise_register(data, 2, 8, 3000)
    assert hll.description_of(data) == b"v:7,2 v:8,1 v:7,2 Z:16379"


def test_a_value_above_32_makes_it_dense() -> None:
    data = hll.new()
    hll.raise_register(data, 5, 32, 3000)
    assert not hll.is_dense(data)
    hll.raise_register(data, 5, 33, 3000)
    assert hll.is_dense(data)


# ---------------------------------------------------------------------- what is corrupt


@pytest.mark.parametrize(
    "opcodes",
    [
        b"",
        b"\x7f",  # half an opcode
        b"\x7f\xfe",  # one register is missing
        b"\x7f\xff\x00",  # one is too many
        b"\x7f\xff\x80",
        b"\x7f\xff\x7f\xff",
        b"\x7f\xff" * 131_072,  # as many as would overflow an index of 32 bits: CVE-2025-32023
        b"\x80" * 16_385,
        b"\x7f\xfe\x81",  # a run of values beyond the last register: CVE-2019-10192
        b"\x7f\xff\x7f",  # CVE-2019-10193: half an opcode beyond the last register
    ],
)
def test_opcodes_that_are_not_for_all_registers_are_known_as_corrupt(opcodes: bytes) -> None:
    data = bytearray(HEAD + opcodes)
    assert hll.is_one(data)
    assert not hll.is_whole(data)


@given(st.binary(max_size=60))
def test_any_opcodes_are_whole_or_corrupt(opcodes: bytes) -> None:
    data = bytearray(HEAD + opcodes)
    if hll.is_whole(data):
        registers_of(data)
        hll.add(data, b"a", 3000)
        assert hll.is_whole(data)


def test_a_dense_one_has_one_size() -> None:
    data = hll.new()
    hll.to_dense(data)
    assert hll.is_one(data)
    assert not hll.is_one(data + b"\0")
    assert not hll.is_one(data[:-1])
    assert not hll.is_one(b"HYLL\x02" + bytes(11))
    assert not hll.is_one(b"HYLL\x01" + bytes(10))
    assert not hll.is_one(b"hyll\x01" + bytes(11))
