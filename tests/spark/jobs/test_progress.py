"""Progress lines, which are made from Spark's progress reports."""

from __future__ import annotations

from typing import Any

from pyspark_penstock.figures import (
    BAD_VALUES,
    BYTES_WRITTEN,
    ENTRIES_LOST,
    ROWS_DROPPED,
    ROWS_REPEATED,
    ROWS_WRITTEN,
    WRITE_RETRIES,
    Sums,
)
from pyspark_penstock.jobs.progress import (
    SinkProgress,
    StreamProgress,
    committed_offsets,
    progress_of,
    rate,
    sink_progress,
)
from tests.spark.documented import WATCHING, block


def position(entry: str, n: int, **more: Any) -> dict[str, Any]:
    return {"id": entry, "n": n, **more}


def offset(**streams: dict[str, Any]) -> dict[str, Any]:
    return {"source": {"subscribe": sorted(streams)}, "streams": streams}


def report(start: Any, end: Any, latest: Any) -> dict[str, Any]:
    source = {"startOffset": start, "endOffset": end, "latestOffset": latest}
    took = {"addBatch": 614, "commitOffsets": 41, "triggerExecution": 1_000}
    return {"batchId": 17, "durationMs": took, "sources": [source]}


def test_a_progress_line_has_count_rate_position_lag_and_times() -> None:
    start, end = offset(orders=position("1-0", 500)), offset(orders=position("9-3", 250_500))
    latest = offset(orders=position("20-0", 1_000_500))
    (found,) = progress_of(report(start, end, latest))
    assert found.line() == (
        "batch 17  orders  +250,000 (250 k/s)  at 9-3  lag 750,000 (~3 s)  "
        "write 614 ms  commit 41 ms"
    )
    assert found.to_json()["lag"] == 750_000


def test_the_first_batch_counts_from_its_starting_position() -> None:
    end = offset(orders=position("9-3", 700, **{"from": ["0-0", 200]}))
    (found,) = progress_of(report(None, end, None))
    assert (found.entries, found.lag) == (500, None)


def test_entries_lost_before_a_batch_are_not_counted_as_read() -> None:
    start = offset(orders=position("2-0", 2, **{"from": ["0-0", 0]}))
    end = offset(orders=position("4-0", 4, **{"from": ["2-0", 3]}))  # the third entry was trimmed
    (found,) = progress_of(report(start, end, end))
    assert found.entries == 1


def test_a_stream_that_was_not_read_has_no_line() -> None:
    start = offset(a=position("1-0", 5), b=position("1-0", 5))
    end = offset(a=position("2-0", 6), b=position("1-0", 5))
    assert [found.stream for found in progress_of(report(start, end, end))] == ["a"]


def test_streams_of_several_servers_are_named_with_their_server() -> None:
    def fleet(n: int) -> dict[str, Any]:
        servers = {name: {"streams": {"s": position("9-3", n)}} for name in ("a:1", "b:2")}
        return {"source": {"servers": ["a:1", "b:2"]}, "servers": servers}

    found = list(progress_of(report(fleet(3), fleet(5), fleet(6))))
    assert [(each.server, each.stream, each.entries, each.lag) for each in found] == [
        ("a:1", "s", 2, 1), ("b:2", "s", 2, 1),
    ]  # fmt: skip
    assert [each.line()[:18] for each in found] == ["batch 17  a:1 s  +", "batch 17  b:2 s  +"]
    assert not committed_offsets(report(fleet(3), fleet(5), fleet(6)))


def test_a_batch_of_a_shared_group_has_the_group_s_lag() -> None:
    claims = {"a": {"entries": 4, "upto": "9-3"}, "b": {"entries": 0}}
    end = {"source": {"group": "g"}, "member": "spark-1", "batch": 2, "claims": claims}
    (found,) = progress_of(report(end | {"batch": 1}, end, {"lag": {"a": 6, "b": 1}}))
    assert (found.stream, found.entries, found.at, found.lag) == ("a", 4, "9-3", 6)
    assert not list(progress_of(report(end, end, None)))


def test_what_was_counted_is_said_if_it_is_not_zero() -> None:
    start, end = offset(orders=position("1-0", 5)), offset(orders=position("9-3", 9))
    sums = Sums()
    for name, value in {BAD_VALUES: 3, ROWS_DROPPED: 2, ENTRIES_LOST: 1_500}.items():
        sums.add(("", "orders"), name, value)
    sums.add(("", "others"), BAD_VALUES, 99)
    (found,) = progress_of(report(start, end, end), sums)
    assert "  lag 0  bad 3  dropped 2  lost 1,500  write 614 ms" in found.line()
    assert (found.to_json()["bad_values"], found.to_json()["entries_redelivered"]) == (3, 0)


def test_the_sink_has_a_line_if_it_has_told_something() -> None:
    start, end = offset(orders=position("1-0", 5)), offset(orders=position("9-3", 9))
    sums = Sums()
    assert sink_progress(report(start, end, end), sums) is None
    for stream in ("a", "b"):
        sums.add(("", stream), ROWS_WRITTEN, 1_300)
        sums.add(("", stream), BYTES_WRITTEN, 61_700)
    found = sink_progress(report(start, end, end), sums)
    assert found is not None
    assert found.line() == "batch 17  sink  +2,600 rows  123 kB"
    sums.add(("", "a"), ROWS_REPEATED, 5)
    sums.add(("", "a"), WRITE_RETRIES, 1)
    found = sink_progress(report(start, end, end), sums)
    assert found is not None
    assert found.line().endswith("  there already 5  retries 1")
    assert found.to_json() == {
        "batch": 17, "rows_written": 2_600, "bytes_written": 123_400, "rows_repeated": 5,
        "write_retries": 1,
    }  # fmt: skip


def test_the_documented_lines_are_what_is_printed() -> None:
    stream = StreamProgress(
        batch=17, stream="orders", entries=250_000, entries_per_s=301_000, at="1763000062499-3",
        lag=750_000, lag_s=3, write_ms=614, commit_ms=41, server="a:6379", bad_values=3,
        rows_dropped=3,
    )  # fmt: skip
    sink = SinkProgress(17, 249_997, 31_400_000, 0, 0)
    lines = block(WATCHING, "batch 17  a:6379").splitlines()
    assert lines == [stream.line(), sink.line()]


def test_other_sources_have_no_line_and_no_offset() -> None:
    found = report("3", {"value": 4}, None)
    assert not list(progress_of(found))
    assert not committed_offsets(found)


def test_a_line_without_lag_has_no_estimate() -> None:
    end = offset(orders=position("9-3", 7, **{"from": ["0-0", 0]}))
    (found,) = progress_of(report(None, end, end))
    assert "  lag 0  " in found.line()


def test_rates_have_three_digits_and_a_unit() -> None:
    assert [rate(value) for value in (0.4567, 12, 3_456, 1_234_567)] == [
        "0.457/s", "12/s", "3.46 k/s", "1.23 M/s",
    ]  # fmt: skip
