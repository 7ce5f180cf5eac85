"""The health of consumer groups: its numbers, HTML page and PNG."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import redis
from PIL import Image

from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.health import (
    AGES,
    TOP,
    GroupHealth,
    PendingSummary,
    Redelivered,
    age_of,
    health,
)
from pyspark_penstock.jobs.health_charts import Chart
from pyspark_penstock.jobs.health_image import BLUE, MARGIN, MOST_GROUPS, RED, png
from pyspark_penstock.jobs.health_page import page, picture

Options = dict[str, str]


def group_with_pending(client: redis.Redis) -> None:
    """Add a stream of ten entries with a group.

    Four entries are pending for the consumer ann; one of them was delivered three times.
    """
    for ms in range(1, 11):
        client.xadd("in", {"ms": ms}, id=f"{ms}-0")
    client.xgroup_create("in", "workers", id="0")
    client.xreadgroup("workers", "ann", {"in": ">"}, count=4)
    for _ in range(2):
        client.xclaim("in", "workers", "ann", 0, ["2-0"])


def test_health_has_lag_pending_and_redelivered_entries(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    (found,) = health(at, ["in"])
    assert (found.lag, found.pending, found.redelivered) == (6, 4, 1)
    assert [(e.id, e.consumer, e.deliveries) for e in found.most_redelivered] == [("2-0", "ann", 3)]
    assert sum(found.ages) == 4


def test_an_idle_consumer_with_pending_entries_is_dead(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_createconsumer("in", "workers", "bob")
    (now,) = health(at, min_idle_ms=0)
    (later,) = health(at, min_idle_ms=3_600_000)
    assert [(consumer.name, consumer.pending) for consumer in now.dead] == [("ann", 4)]
    assert (now.stuck, later.stuck, later.dead) == (4, 0, ())


def test_health_can_be_limited_to_one_group(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_create("in", "audit", id="$")
    assert [found.group for found in health(at, group="audit")] == ["audit"]
    assert {found.group for found in health(at)} == {"audit", "workers"}


def test_streams_can_be_given_as_globs(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_create("in[1]", "brackets", id="0", mkstream=True)
    assert [found.stream for found in health(at, ["i?", "in"])] == ["in"]
    assert [found.stream for found in health(at, ["in[1]"])] == ["in[1]"]
    with pytest.raises(OptionError, match=r"no stream matches 'ord\*'"):
        health(at, ["ord*"])


def test_a_missing_stream_or_group_is_refused(client: redis.Redis, at: Options) -> None:
    with pytest.raises(OptionError, match="no stream 'nowhere'"):
        health(at, ["nowhere"])
    with pytest.raises(OptionError, match="group 'nobody'"):
        health(at, group="nobody")


def test_a_server_without_groups_has_no_rows(client: redis.Redis, at: Options) -> None:
    client.xadd("in", {"a": 1})
    assert health(at) == []


def test_each_age_falls_into_exactly_one_range() -> None:
    limits = [limit for _, limit in AGES if limit is not None]
    assert [age_of(limit - 1) for limit in limits] == list(range(len(limits)))
    assert age_of(limits[-1]) == len(AGES) - 1


def test_only_the_most_redelivered_entries_are_listed() -> None:
    summary = PendingSummary(min_idle_ms=0)
    for times in range(50):
        summary.add(Redelivered(f"{times}-0", "ann", times, 0))
    assert summary.redelivered == 48
    assert [e.deliveries for e in summary.most_redelivered()] == list(range(49, 49 - TOP, -1))


def unhealthy_group(stream: str = "in") -> GroupHealth:
    worst = Redelivered("2-0", "<ann>", 7, 5)
    ages = (1, 2, 3, 0, 0, 0, 4)
    return GroupHealth(stream, "g", None, 2, 10, 4, 99_000_000, ages, 1, (worst,), ())


def test_the_page_is_well_formed_and_escapes_names() -> None:
    text = page([unhealthy_group("<script>&")], "now")
    root = ET.fromstring(
        text.removeprefix("<!doctype html>\n").replace('<meta charset="utf-8">', "")
    )
    pictures = root.findall(".//{http://www.w3.org/2000/svg}svg")
    assert len(pictures) == 3  # lag, age, redelivery
    assert "<script>" not in text
    assert '<td class="">?</td>' in text  # an unknown lag


def test_bars_are_proportional_to_the_largest() -> None:
    root = ET.fromstring(picture(Chart("t", [("a", 50), ("b", 100), ("c", 0)])))
    widths = [float(r.attrib["width"]) for r in root.findall("{http://www.w3.org/2000/svg}rect")]
    assert widths[0] * 2 == widths[1]
    assert widths[2] == 0


def test_a_page_without_pending_entries_has_one_chart() -> None:
    well = GroupHealth("in", "g", 0, 1, 0, 0, 0, (0,) * len(AGES), 0, (), ())
    assert page([well], "now").count("<svg") == 1


def colours(data: bytes) -> Counter[str]:
    """The number of pixels of each colour in a PNG."""
    image = Image.open(BytesIO(data))
    assert image.format == "PNG"
    found: list[Any] = image.getcolors(1 << 24) or []
    return Counter({f"#{bytes(rgb).hex()}": pixels for pixels, rgb in found})


def test_the_png_has_proportional_bars_for_lag_and_pending() -> None:
    pending = colours(png([unhealthy_group()], "now"))
    assert pending[BLUE] > 0
    assert pending[RED] > 0
    lags = [replace(unhealthy_group(), lag=lag, pending=0, most_redelivered=()) for lag in (0, 100)]
    alone, both = (colours(png([lags[1], other], "now"))[BLUE] for other in lags)
    assert both > 1.9 * alone


def test_a_png_of_many_groups_shows_the_busiest_ones() -> None:
    idle = [
        replace(unhealthy_group(f"s{i}"), lag=i, pending=0, most_redelivered=())
        for i in range(1000)
    ]
    few = Image.open(BytesIO(png(idle[-MOST_GROUPS:], "now")))
    all_ = Image.open(BytesIO(png(idle, "now")))
    assert few.height == all_.height


def test_a_server_without_groups_has_a_png_too() -> None:
    assert Image.open(BytesIO(png([], "now"))).width > 2 * MARGIN
