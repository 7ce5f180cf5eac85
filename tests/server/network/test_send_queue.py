"""What a socket has not taken yet."""

from __future__ import annotations

import random

import pytest

from protocol.encoder import Encoder
from server.network.send_queue import SendQueue

SHORT = 64 * 1024  # bytes; answers of fewer are joined
MANY = 1024  # places of pieces that are taken, before the list is shortened


def added(queue, *values):
    """Add *values* as bulk strings, in one answer. Returns its bytes."""
    out, same = Encoder(), Encoder()
    for value in values:
        out.bulk(value)
        same.bulk(value)
    queue.add(out)
    assert len(out) == 0
    return same.take()


def taken(queue, most):
    return bytes(queue.take(most))


def test_bytes_come_out_in_the_order_in_which_they_were_added():
    rng = random.Random(7)
    queue = SendQueue()
    given, got = bytearray(), bytearray()
    for _ in range(2000):
        if rng.random() < 0.5:
            sizes = [rng.choice([0, 5, 300, SHORT - 1, SHORT, 3 * SHORT])] * rng.choice([1, 1, 3])
            given += added(queue, *(rng.randbytes(size) for size in sizes))
        elif queue.size:
            got += taken(queue, rng.choice([1, 7, SHORT, 10 * SHORT]))
        assert queue.size == len(given) - len(got)
    while queue.size:
        got += taken(queue, 1 << 20)
    assert got == given


def test_short_answers_are_joined():
    """A client that asks one thing at a time, and never reads, once had a piece for each answer."""
    queue = SendQueue()
    for _ in range(10_000):
        added(queue, b"v")
    assert len(taken(queue, 1 << 20)) >= SHORT


def test_nothing_is_added_of_an_empty_answer():
    queue = SendQueue()
    added(queue, b"long" * SHORT)
    pieces = queue.piece_count()
    queue.add(Encoder())
    assert queue.piece_count() == pieces
    added(queue, b"long" * SHORT)
    while queue.size:
        assert taken(queue, 1 << 20)


def test_a_long_value_is_referred_to_and_never_changed():
    queue, value = SendQueue(), bytes(SHORT)
    added(queue, value)
    added(queue, b"behind")
    assert taken(queue, 1 << 20) == b"$%d\r\n" % SHORT
    assert queue.take(1 << 20) is value


def test_a_piece_that_others_share_is_not_lengthened():
    queue, out = SendQueue(), Encoder()
    out.raw(bytes(SHORT))
    shared = Encoder()
    shared.append(out)
    (piece,) = shared.take_pieces()
    queue.add(out)
    size = len(piece)
    added(queue, b"behind")
    assert len(piece) == size


def test_what_is_looked_at_does_not_keep_more_from_being_added():
    queue = SendQueue()
    added(queue, b"first")
    part = queue.take(3)
    rest = added(queue, b"second")
    assert bytes(part) == b"$5\r"
    assert taken(queue, 1 << 20) + taken(queue, 1 << 20) == b"\nfirst\r\n" + rest


def test_a_queue_that_is_never_empty_stays_short():
    queue = SendQueue()
    added(queue, bytes(SHORT))
    for _ in range(5 * MANY):
        added(queue, bytes(SHORT))
        queue.take(1 << 20)
        queue.take(1 << 20)
        queue.take(1 << 20)
    if hasattr(queue, "pieces"):  # compiled, it is not to be seen
        assert len(queue.pieces) < 3 * MANY
    assert queue.size < 10 * SHORT


def test_cleared_it_is_as_new():
    queue = SendQueue()
    added(queue, b"short")
    queue.clear()
    assert queue.size == 0
    expected = added(queue, b"next")
    assert taken(queue, 1 << 20) == expected
    assert queue.size == 0


@pytest.mark.parametrize("sizes", [(SHORT,) * 3, (10, SHORT, 10)])
def test_pass_over_lets_go_of_what_was_sent(sizes):
    queue = SendQueue()
    expected = added(queue, *(bytes([n]) * size for n, size in enumerate(sizes)))
    for count in (1, SHORT // 2, SHORT):
        if count < queue.size:
            queue.pass_over(count)
            expected = expected[count:]
    got = bytearray()
    while queue.size:
        got += taken(queue, 1 << 20)
    assert got == expected
