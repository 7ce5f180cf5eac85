"""The health of groups: the numbers, the page and the picture."""

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
    """A stream of ten entries.

    The consumer ann holds four; one of them was delivered three times.
    """
    for ms in range(1, 11):
        client.xadd("in", {"ms": ms}, id=f"{ms}-0")
    client.xgroup_create("in", "workers", id="0")
    client.xreadgroup("workers", "ann", {"in": ">"}, count=4)
    for _ in range(2):
        client.xclaim("in", "workers", "ann", 0, ["2-0"])


def test_lag_pending_and_redelivery(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    (found,) = health(at, ["in"])
    assert (found.lag, found.pending, found.redelivered) == (6, 4, 1)
    assert [(e.id, e.consumer, e.deliveries) for e in found.most_redelivered] == [("2-0", "ann", 3)]
    assert sum(found.ages) == 4


def test_whoever_holds_entries_and_is_idle_is_dead(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_createconsumer("in", "workers", "bob")
    (now,) = health(at, min_idle_ms=0)
    (later,) = health(at, min_idle_ms=3_600_000)
    assert [(consumer.name, consumer.pending) for consumer in now.dead] == [("ann", 4)]
    assert (now.stuck, later.stuck, later.dead) == (4, 0, ())


def test_one_group_of_many(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_create("in", "audit", id="$")
    assert [found.group for found in health(at, group="audit")] == ["audit"]
    assert {found.group for found in health(at)} == {"audit", "workers"}


def test_streams_may_be_named_by_globs(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_create("in[1]", "brackets", id="0", mkstream=True)
    assert [found.stream for found in health(at, ["i?", "in"])] == ["in"]
    assert [found.stream for found in health(at, ["in[1]"])] == ["in[1]"]
    with pytest.raises(OptionError, match=r"no stream matches 'ord\*'"):
        health(at, ["ord*"])


def test_no_such_stream_and_no_such_group_are_refused(client: redis.Redis, at: Options) -> None:
    with pytest.raises(OptionError, match="no stream 'nowhere'"):
        health(at, ["nowhere"])
    with pytest.raises(OptionError, match="group 'nobody'"):
        health(at, group="nobody")


def test_a_server_without_groups_is_healthy(client: redis.Redis, at: Options) -> None:
    client.xadd("in", {"a": 1})
    assert health(at) == []


def test_ages_have_each_time_once() -> None:
    limits = [limit for _, limit in AGES if limit is not None]
    assert [age_of(limit - 1) for limit in limits] == list(range(len(limits)))
    assert age_of(limits[-1]) == len(AGES) - 1


def test_of_many_redelivered_entries_the_worst_are_kept() -> None:
    summary = PendingSummary(min_idle_ms=0)
    for times in range(50):
        summary.add(Redelivered(f"{times}-0", "ann", times, 0))
    assert summary.redelivered == 48
    assert [e.deliveries for e in summary.most_redelivered()] == list(range(49, 49 - TOP, -1))


def sick(stream: str = "in") -> GroupHealth:
    worst = Redelivered("2-0", "<ann>", 7, 5)
    ages = (1, 2, 3, 0, 0, 0, 4)
    return GroupHealth(stream, "g", None, 2, 10, 4, 99_000_000, ages, 1, (worst,), ())


def test_the_page_is_well_formed_and_escapes_names() -> None:
    text = page([sick("<script>&")], "now")
    root = ET.fromstring(
        text.removeprefix("<!doctype html>\n").replace('<meta charset="utf-8">', "")
    )
    pictures = root.findall(".//{http://www.w3.org/2000/svg}svg")
    assert len(pictures) == 3  # lag, age, redelivery
    assert "<script>" not in text
    assert '<td class="">?</td>' in text  # a lag that nobody knows


def test_bars_are_in_proportion_to_the_largest() -> None:
    root = ET.fromstring(picture(Chart("t", [("a", 50), ("b", 100), ("c", 0)])))
    widths = [float(r.attrib["width"]) for r in root.findall("{http://www.w3.org/2000/svg}rect")]
    assert widths[0] * 2 == widths[1]
    assert widths[2] == 0


def test_no_pending_entries_need_no_picture() -> None:
    well = GroupHealth("in", "g", 0, 1, 0, 0, 0, (0,) * len(AGES), 0, (), ())
    assert page([well], "now").count("<svg") == 1


def colours(data: bytes) -> Counter[str]:
    """How many pixels a PNG has of each colour."""
    image = Image.open(BytesIO(data))
    assert image.format == "PNG"
    found: list[Any] = image.getcolors(1 << 24) or []
    return Counter({f"#{bytes(rgb).hex()}": pixels for pixels, rgb in found})


def test_the_picture_has_bars_in_proportion_and_of_two_kinds() -> None:
    pending = colours(png([sick()], "now"))
    assert pending[BLUE] > 0
    assert pending[RED] > 0
    lags = [replace(sick(), lag=lag, pending=0, most_redelivered=()) for lag in (0, 100)]
    alone, both = (colours(png([lags[1], other], "now"))[BLUE] for other in lags)
    assert both > 1.9 * alone


def test_a_picture_of_many_groups_is_of_those_that_have_most_to_do() -> None:
    idle = [replace(sick(f"s{i}"), lag=i, pending=0, most_redelivered=()) for i in range(1000)]
    few = Image.open(BytesIO(png(idle[-MOST_GROUPS:], "now")))
    all_ = Image.open(BytesIO(png(idle, "now")))
    assert few.height == all_.height


def test_a_server_without_groups_has_a_picture_too() -> None:
    assert Image.open(BytesIO(png([], "now"))).width > 2 * MARGIN
