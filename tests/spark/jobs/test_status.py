"""The status of a query, read from its checkpoint without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyspark_penstock.cli.main import main
from pyspark_penstock.figures import BYTES_WRITTEN, ROWS_REPEATED, ROWS_WRITTEN, WRITE_RETRIES
from pyspark_penstock.jobs.status import ClaimStatus, status
from pyspark_penstock.write.batch_sums import FILE
from tests.spark.documented import WATCHING, block
from tests.spark.jobs.test_checkpoint import CLAIM, batch, checkpoint

NOWHERE = {"bootstrap.servers": "127.0.0.1:1"}


@pytest.fixture
def shared(tmp_path: Path) -> str:
    """The checkpoint of a query that shares a group."""
    folder = checkpoint(tmp_path, planned=0, committed=0)
    (tmp_path / "offsets" / "0").write_text(batch(CLAIM))
    return folder


def test_a_query_that_shares_a_group_has_claims(shared: str) -> None:
    found = status(shared, NOWHERE)
    assert not found.streams
    assert found.claims == (
        ClaimStatus("a", "g", "spark-1-2", 4, "9-3"),
        ClaimStatus("b", "g", "spark-1-2", 0, "0-0"),
    )


def test_claims_are_printed_as_text(shared: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", shared, "--server", "127.0.0.1:1"]) == 0
    _, _, first, second = capsys.readouterr().out.splitlines()
    assert first == "a  group 'g'  consumer 'spark-1-2'  claimed 4 entries up to 9-3"
    assert second == "b  group 'g'  consumer 'spark-1-2'  claimed nothing"


def test_each_server_of_a_fleet_is_asked_for_its_streams(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkpoint(tmp_path, planned=0, committed=0)
    at = {"streams": {"orders": {"id": "9-3", "n": 7}}}
    fleet = {"source": {"servers": ["127.0.0.1:1", "127.0.0.1:2"]},
             "servers": {"127.0.0.1:1": at, "127.0.0.1:2": at}}  # fmt: skip
    (tmp_path / "offsets" / "0").write_text(batch(json.dumps(fleet)))
    found = status(folder, NOWHERE)
    assert [(s.server, s.stream, s.entries, s.lag) for s in found.streams] == [
        ("127.0.0.1:1", "orders", 7, None), ("127.0.0.1:2", "orders", 7, None),
    ]  # fmt: skip
    assert "127.0.0.1:1" in found.server_problem
    assert "127.0.0.1:2" in found.server_problem
    assert main(["status", folder, "--server", "127.0.0.1:1"]) == 0
    assert "127.0.0.1:2  orders       9-3" in capsys.readouterr().out


def test_streams_have_their_sums_and_a_damaged_file_of_the_sink_hides_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkpoint(tmp_path, planned=0, committed=0)
    streams = {name: {"id": "9-3", "n": 7_000} for name in ("orders", "refunds")}
    offset = {"source": {"subscribe": ["orders", "refunds"]}, "streams": streams}
    (tmp_path / "offsets" / "0").write_text(batch(json.dumps(offset)))
    (tmp_path / "penstock-sink.json").write_text("{")
    assert main(["status", folder, "--server", "127.0.0.1:1"]) == 0
    *_, total, sink, _ = capsys.readouterr().out.splitlines()
    assert total.split() == ["(2", "streams)", "14,000", "?"]
    assert sink.startswith("(what was written is not known: penstock-sink.json is damaged")


def test_status_says_what_is_documented(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = checkpoint(tmp_path, planned=5, committed=5)
    last = {ROWS_WRITTEN: 249_997.0, BYTES_WRITTEN: 31_400_000}
    every = {ROWS_WRITTEN: 4_249_997, BYTES_WRITTEN: 533e6, ROWS_REPEATED: 1_200, WRITE_RETRIES: 2}
    value = {"batch": 17, "streams": 1, "last": last, "all": every}
    (tmp_path / FILE).write_text(json.dumps(value))
    assert main(["status", folder, "--server", "127.0.0.1:1"]) == 0
    documented = block(WATCHING, "batch 17 has written").splitlines()
    assert capsys.readouterr().out.splitlines()[-3:-1] == documented
