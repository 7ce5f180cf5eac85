"""What commands say before Spark starts, and how an interrupt ends them."""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import Iterator

import pytest
import redis

from pyspark_penstock.cli.output import Output
from pyspark_penstock.cli.spark_command import end_by_interrupt, no_interrupt, note_missing
from pyspark_penstock.read.source_options import stream_options

# Which server it is does not matter to a notice.
ON_PENSTOCK = pytest.mark.parametrize("server", ["penstock"], indirect=True)


@ON_PENSTOCK
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"subscribe": "in"}, ""),
        ({"subscribe": "in,nope"}, "there is no stream 'nope' yet\n"),
        ({"subscribePattern": "i*"}, ""),
        ({"subscribePattern": "nope*"}, "no stream matches 'nope*' yet\n"),
    ],
    ids=str,
)
def test_streams_that_are_not_there_are_told_of(
    client: redis.Redis, at: dict[str, str], option: dict[str, str], said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    client.xadd("in", {"n": 1})
    note_missing(Output(as_json=False), stream_options(at | option))
    assert capsys.readouterr() == ("", said)


@ON_PENSTOCK
def test_a_program_is_told_as_json_beside_the_events(
    client: redis.Redis, at: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    note_missing(Output(as_json=True), stream_options(at | {"subscribe": "nope"}))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert json.loads(printed.err) == {
        "event": "notice",
        "message": "there is no stream 'nope' yet",
    }


@pytest.fixture
def as_before() -> Iterator[None]:
    """Restore the signal handler and the log filter."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)
    logging.getLogger().removeFilter(no_interrupt)


@pytest.mark.usefixtures("as_before")
def test_an_interrupt_is_no_one_s_to_log(caplog: pytest.LogCaptureFixture) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as Spark sets one
    end_by_interrupt()
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        logging.exception("KeyboardInterrupt while sending command.")
    logging.getLogger().error("another")
    assert caplog.messages == ["another"]
