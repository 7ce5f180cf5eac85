"""Progress lines, which are made from Spark's progress reports."""

from __future__ import annotations

from typing import Any

from pyspark_penstock.jobs.progress import committed_offsets, progress_of, rate


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
    assert [(each.stream, each.entries, each.lag) for each in found] == [
        ("a:1 s", 2, 1), ("b:2 s", 2, 1),
    ]  # fmt: skip
    assert not committed_offsets(report(fleet(3), fleet(5), fleet(6)))


def test_a_batch_of_a_shared_group_has_the_group_s_lag() -> None:
    claims = {"a": {"entries": 4, "upto": "9-3"}, "b": {"entries": 0}}
    end = {"source": {"group": "g"}, "member": "spark-1", "batch": 2, "claims": claims}
    (found,) = progress_of(report(end | {"batch": 1}, end, {"lag": {"a": 6, "b": 1}}))
    assert (found.stream, found.entries, found.at, found.lag) == ("a", 4, "9-3", 6)
    assert not list(progress_of(report(end, end, None)))


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
