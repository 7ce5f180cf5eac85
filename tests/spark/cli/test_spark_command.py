"""What commands print before Spark starts, and how an interrupt ends them."""

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

# Notices do not depend on the server.
ON_PENSTOCK = pytest.mark.parametrize("server", ["penstock"], indirect=True)


@ON_PENSTOCK
@pytest.mark.parametrize(
    ("option", "notice"),
    [
        ({"subscribe": "in"}, ""),
        ({"subscribe": "in,nope"}, "there is no stream 'nope' yet\n"),
        ({"subscribePattern": "i*"}, ""),
        ({"subscribePattern": "nope*"}, "no stream matches 'nope*' yet\n"),
    ],
    ids=str,
)
def test_missing_streams_are_reported(
    client: redis.Redis, at: dict[str, str], option: dict[str, str], notice: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    client.xadd("in", {"n": 1})
    note_missing(Output(as_json=False), stream_options(at | option))
    assert capsys.readouterr() == ("", notice)


@ON_PENSTOCK
def test_missing_streams_are_reported_as_json_on_standard_error(
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
def restored_handlers() -> Iterator[None]:
    """Restore the signal handler and the log filter."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)
    logging.getLogger().removeFilter(no_interrupt)


@pytest.mark.usefixtures("restored_handlers")
def test_an_interrupt_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Spark sets a handler too
    end_by_interrupt()
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        logging.exception("KeyboardInterrupt while sending command.")
    logging.getLogger().error("another")
    assert caplog.messages == ["another"]
