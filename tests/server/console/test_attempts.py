"""How often somebody may try to log in, by a clock that the test sets."""

from __future__ import annotations

from server.console.attempts import (
    FORGOTTEN_MS,
    FREE,
    LONGEST_MS,
    MOST_ADDRESSES,
    MOST_AT_ONCE,
    MOST_NAMES,
    Attempts,
)

ANN = "192.0.2.1:5000"


def tries(attempts: Attempts, address: str, count: int, now_ms: int) -> None:
    for _ in range(count):
        attempts.tried(address, b"ann", now_ms)


def test_a_few_are_free_and_then_the_wait_doubles():
    attempts, now_ms, waits = Attempts(), 0, []
    for _ in range(FREE + 10):
        wait_ms = attempts.wait_ms(ANN, now_ms)
        waits.append(wait_ms)
        now_ms += wait_ms
        attempts.tried(ANN, b"ann", now_ms)
    assert waits[:FREE] == [0] * FREE
    assert waits[FREE:] == [1000, 2000, 4000, 8000, 16000, 32000, *[LONGEST_MS] * 4]


def test_a_port_makes_no_other_address():
    attempts = Attempts()
    tries(attempts, ANN, FREE, 0)
    assert attempts.wait_ms("192.0.2.1:6000", 0) == 1000
    assert attempts.wait_ms("192.0.2.2:5000", 0) == 0


def test_the_addresses_of_one_ipv6_network_are_one():
    attempts = Attempts()
    tries(attempts, "[2001:db8::1]:5000", FREE, 0)
    assert attempts.wait_ms("[2001:db8::ffff]:1", 0) == 1000
    assert attempts.wait_ms("[2001:db8:0:1::1]:1", 0) == 0


def test_success_forgets_what_has_failed():
    attempts = Attempts()
    tries(attempts, ANN, FREE, 0)
    attempts.succeeded(ANN, b"ann", 0)
    assert attempts.wait_ms(ANN, 0) == 0


def test_success_as_somebody_else_forgets_nothing():
    """He would guess another one's password as fast as all together may fail, and lock them out."""
    attempts = Attempts()
    tries(attempts, ANN, FREE, 0)
    assert attempts.wait_ms(ANN, 0) == 1000
    for now_ms, wait_ms in ((1000, 2000), (3000, 4000), (7000, 8000)):
        attempts.tried(ANN, b"bob", now_ms)
        attempts.succeeded(ANN, b"bob", now_ms)
        assert attempts.wait_ms(ANN, now_ms) == 0, "he has logged in"
        attempts.tried(ANN, b"ann", now_ms)
        assert attempts.wait_ms(ANN, now_ms) == wait_ms


def test_the_names_of_an_address_that_are_told_apart_are_limited():
    attempts = Attempts()
    for number in range(MOST_NAMES + 1):
        attempts.tried(ANN, b"%d" % number, 0)
    attempts.succeeded(ANN, b"%d" % MOST_NAMES, 0)
    attempts.tried(ANN, b"ann", 0)
    assert attempts.wait_ms(ANN, 0) == LONGEST_MS
    assert len(attempts._by_address["192.0.2.1"].failed) == MOST_NAMES + 1


def test_many_addresses_together_are_slowed_down():
    attempts = Attempts()
    for number in range(MOST_AT_ONCE):
        assert attempts.wait_ms(f"192.0.2.{number}:1", 0) == 0
        attempts.tried(f"192.0.2.{number}:1", b"ann", 0)
    assert attempts.wait_ms("198.51.100.1:1", 0) == 1000
    assert attempts.wait_ms("198.51.100.1:1", 1000) == 0


def test_successes_slow_nobody_down():
    attempts = Attempts()
    for _ in range(10 * MOST_AT_ONCE):
        assert attempts.wait_ms(ANN, 0) == 0
        attempts.tried(ANN, b"ann", 0)
        attempts.succeeded(ANN, b"ann", 0)
    assert attempts.wait_ms("198.51.100.1:1", 0) == 0


def test_an_address_is_forgotten_after_a_while():
    attempts, later_ms = Attempts(), FORGOTTEN_MS + 1000
    tries(attempts, ANN, FREE, 0)
    tries(attempts, ANN, FREE - 1, later_ms)
    assert attempts.wait_ms(ANN, later_ms) == 0
    tries(attempts, ANN, 1, later_ms)
    assert attempts.wait_ms(ANN, later_ms) == 1000


def test_not_more_addresses_are_remembered_than_the_limit():
    attempts = Attempts()
    for number in range(2 * MOST_ADDRESSES):
        attempts.tried(f"10.0.{number // 256}.{number % 256}:1", b"ann", number * 2000)
    assert len(attempts._by_address) <= MOST_ADDRESSES


def test_a_unix_socket_is_one_address():
    attempts = Attempts()
    tries(attempts, "/run/penstock:0", FREE, 0)
    assert attempts.wait_ms("/run/penstock:0", 0) == 1000
