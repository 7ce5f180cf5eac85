"""Retry, with a fake clock that only its pauses advance."""

from __future__ import annotations

import pytest

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.retry import TELL_AT, Retry, passes
from pyspark_penstock.errors import ServerError
from tests.spark.clock import Clock


def retry_of(retry_s: float = 30.0) -> Retry:
    server = Server((("one", 1), ("::1", 2)), retry_s=retry_s)
    return Retry(server, "XINFO")


def fail_for_ever(retry: Retry) -> None:
    while True:
        retry.wait_after(OSError("cut"))


def test_the_error_has_the_command_addresses_tries_time_and_last_failure(
    clock: Clock,
) -> None:
    with pytest.raises(ServerError) as caught:
        fail_for_ever(retry_of())
    assert str(caught.value) == (
        f"XINFO at one:1, [::1]:2 failed {len(clock.pauses) + 1} times in 30 s, "
        "the last time with: cut"
    )
    assert clock.pauses[:3] == [0.05, 0.1, 0.2]
    assert max(clock.pauses) == 2.0
    assert clock.seconds == pytest.approx(30)


def test_renew_starts_the_time_again(clock: Clock) -> None:
    retry = retry_of()
    retry.wait_after(OSError("cut"))
    clock.seconds = 29.0
    retry.renew()
    with pytest.raises(ServerError):
        fail_for_ever(retry)
    assert clock.pauses[:3] == [0.05, 0.05, 0.1]
    assert clock.seconds == pytest.approx(59)


def test_a_failure_that_took_longer_than_retry_s_is_retried_once(clock: Clock) -> None:
    retry = retry_of()
    clock.seconds = 60.0  # as when a reply never comes
    retry.wait_after(OSError("time is up"))
    clock.seconds += 60.0
    with pytest.raises(ServerError, match="failed 2 times in 60 s, the last time with: time is up"):
        retry.wait_after(OSError("time is up"))


def test_with_retry_s_zero_nothing_is_retried(clock: Clock) -> None:
    with pytest.raises(ServerError, match=r"^XINFO at one:1, \[::1\]:2 failed: cut$"):
        fail_for_ever(retry_of(retry_s=0))
    assert clock.pauses == []


def test_a_long_wait_is_logged_once(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """A restart within a second gives no warning."""
    retry = retry_of()
    for _ in range(TELL_AT - 1):
        retry.wait_after(OSError("cut"))
    assert caplog.messages == []
    with pytest.raises(ServerError):
        fail_for_ever(retry)
    assert caplog.messages == [
        "XINFO at one:1, [::1]:2 failed 5 times in 1 s, the last time with: cut; "
        "it is tried for 29 s more"
    ]


@pytest.mark.parametrize(
    "refused",
    [
        "LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "NOREPLICAS Not enough good replicas to write.",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "CLUSTERDOWN The cluster is down",
        "EXECABORT Transaction discarded because of: READONLY You can't write against a read",
    ],
)
def test_temporary_refusals_are_retried(refused: str) -> None:
    assert passes(refused)


@pytest.mark.parametrize(
    "refused",
    [
        "OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist",
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "BUSYGROUP Consumer Group name already exists",
        "NOAUTH Authentication required.",
        "ERR unknown command",
        "EXECABORT Transaction discarded because of: MISCONF Redis is configured to save RDB",
        "EXECABORT Transaction discarded because of previous errors.",
        "",
    ],
)
def test_lasting_refusals_are_not_retried(refused: str) -> None:
    assert not passes(refused)
