"""The health of consumer groups as a picture and as a page. Without a server: two seconds."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.text import Text

from pyspark_penstock.jobs.health import AGES, DeadConsumer, GroupHealth, Redelivered
from pyspark_penstock.jobs.health_page import page
from pyspark_penstock.jobs.health_picture import (
    MOST_GROUPS,
    RED,
    ROW,
    SETTINGS,
    WIDTH,
    drawn,
    png,
    svg,
)

SVG = "{http://www.w3.org/2000/svg}"


def group(stream: str = "in", **more: Any) -> GroupHealth:
    """A group, in which four entries of an hour and more are pending."""
    worst = Redelivered("2-0", "<ann>", 7, 5)
    ages = (1, 2, 3, 0, 0, 0, 4)
    given: dict[str, Any] = {
        "stream": stream, "group": "g", "lag": 100, "consumers": 2, "pending": 10, "stuck": 4,
        "oldest_idle_ms": 99_000_000, "ages": ages, "redelivered": 1, "most_redelivered": (worst,),
        "dead": (DeadConsumer("<ann>", 4, 99_000_000),),
    }  # fmt: skip
    return GroupHealth(**given | more)


def well(stream: str = "in", **more: Any) -> GroupHealth:
    """A group of which nothing is pending."""
    nothing = {"pending": 0, "stuck": 0, "ages": (0,) * len(AGES), "redelivered": 0}
    return group(stream, **{**nothing, "most_redelivered": (), "dead": (), "lag": 0, **more})


def texts(groups: list[GroupHealth]) -> list[str]:
    """The texts of the picture, which is not rendered: that is what takes time."""
    return [text.get_text() for text in drawn(groups, 60_000, "now").findobj(Text)]


def size_of(data: bytes) -> tuple[int, int]:
    """Width and height of a PNG."""
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_the_picture_has_each_group_with_its_figures_and_the_sums() -> None:
    found = texts([group("a", lag=1_234), group("b", lag=None), well("c")])
    assert {"a / g", "b / g", "c / g", "1,234", "not known"} <= set(found)
    assert any("3 groups of 3 streams" in text and "pending 20, stuck 8" in text for text in found)
    assert {"<ann> (4)", "a / g 2-0"} <= set(found)


def test_groups_stand_in_the_order_in_which_they_are_given() -> None:
    found = texts([group("worst"), group("bad"), well("well")])
    assert found.index("worst / g") < found.index("bad / g") < found.index("well / g")


def test_bars_are_proportional_and_start_at_the_same_place() -> None:
    figure = drawn([well("a", lag=50), well("b", lag=100), well("c")], 60_000)
    bars: list[Any] = list(figure.axes[0].patches)
    assert [bar.get_width() for bar in bars] == [50, 100, 0]
    assert {bar.get_x() for bar in bars} == {0}


def test_of_many_groups_the_worst_are_drawn_and_all_are_summed() -> None:
    groups = [well(f"s{n}", lag=1_000 - n) for n in range(1_000)]
    found = texts(groups)
    assert sum(text.endswith(" / g") for text in found) == MOST_GROUPS
    assert "s0 / g" in found
    assert "Consumer groups, now: the 40 worst" in found
    assert any("1,000 groups of 1,000 streams" in text for text in found)
    assert height_of(groups) == height_of(groups[:MOST_GROUPS])


def test_a_picture_grows_by_a_line_for_each_group() -> None:
    heights = [height_of([well()] * rows) for rows in (0, 10, 20)]
    assert [after - before for before, after in pairwise(heights)] == [pytest.approx(10 * ROW)] * 2


def height_of(groups: list[GroupHealth]) -> float:
    """The height of the picture in inches."""
    return drawn(groups, 60_000, "now").get_figheight()


def test_the_png_has_its_size() -> None:
    width, height = size_of(png([group(), well()], "now"))
    assert (width, height) == (round(WIDTH * 144), round(height_of([group(), well()]) * 144))


def cells(min_idle_ms: int) -> list[tuple[int, bool]]:
    """The columns of the cells of pending entries, and whether they are red."""
    panel: Any = drawn([group(ages=(1,) * len(AGES))], min_idle_ms).axes[1]
    return [(round(bar.get_x()), bar.get_facecolor()[0] > bar.get_facecolor()[2])
            for bar in panel.patches]  # fmt: skip


@pytest.mark.parametrize(("min_idle_ms", "first_red"), [(0, 0), (60_000, 3), (3_600_000, 5)])
def test_pending_entries_are_red_when_they_are_stuck(min_idle_ms: int, first_red: int) -> None:
    assert cells(min_idle_ms) == [(at, at >= first_red) for at in range(len(AGES))]


def boxes_of(groups: list[GroupHealth]) -> tuple[list[str], Any, Any]:
    """The texts of a picture, their boxes (left, bottom, right, top), and that of the picture."""
    with mpl.rc_context(SETTINGS):
        figure = drawn(groups, 60_000, "2026-11-21 10:00:00+00:00")
        figure.draw_without_rendering()
        found = [text for text in figure.findobj(Text) if text.get_text()]
        boxes = np.array([text.get_window_extent().extents for text in found])
    return [text.get_text() for text in found], boxes, figure.bbox.extents


def test_no_text_covers_another_or_leaves_the_picture() -> None:
    """With 40 groups, long names, large numbers and many dead consumers."""
    dead = tuple(DeadConsumer(f"worker-{n}@host.example", 10**n, 10**8) for n in range(5))
    name = "tenant-4711:eu-central-1:orders:created"
    worst = tuple(Redelivered(f"{10**12 + n}-{n}", "x" * 40, n, 10**8) for n in range(1, 11))
    groups = [
        group(
            name + str(n), group="fulfilment", server="10.0.0.12:6379", lag=10**9 - 7 * n**5,
            ages=tuple(10**k + n for k in range(7)), redelivered=10**6 + n, dead=dead,
            most_redelivered=worst,
        )
        for n in range(40)
    ]  # fmt: skip
    found, boxes, (left, bottom, right, top) = boxes_of(groups)
    inside = (boxes >= [left, bottom, left, bottom]) & (boxes <= [right, top, right, top])
    assert [text for text, fits in zip(found, inside.all(axis=1), strict=True) if not fits] == []
    boxes += [1, 1, -1, -1]  # they may touch
    low, high = boxes[:, :2], boxes[:, 2:]
    cover = ((low[:, None] < high) & (low < high[:, None])).all(axis=2)
    pairs = [(found[a], found[b]) for a, b in np.argwhere(np.triu(cover, 1)).tolist()]
    assert pairs == []


def test_names_are_not_taken_for_formulas_or_markup() -> None:
    strange = "$x^2$ <b>&amp; \\frac{1}"
    root = ET.fromstring(svg([group(strange[:8]), group(strange[8:])]))
    found = ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]
    assert "$x^2$ <b / g" in found
    assert ">&amp; \\frac{1} / g" in found


def test_a_name_that_no_font_has_is_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    assert png([group("\u6ce8\u6587")], "now")
    assert not list(recwarn)


def test_the_picture_in_a_page_has_the_page_s_colour_and_is_always_the_same() -> None:
    found = svg([group()])
    assert "currentColor" in found
    assert RED in found
    assert found == svg([group()])


def test_the_page_is_well_formed_loads_nothing_and_escapes_names() -> None:
    text = page([group("<script>&", lag=None), well()], "now")
    source = text.removeprefix("<!doctype html>\n").replace('<meta charset="utf-8">', "")
    root = ET.fromstring(source)
    (picture,) = root.findall(f".//{SVG}svg")
    assert "Consumer groups" not in ET.tostring(picture, "unicode")  # the page has that title
    assert "<script>" not in text
    assert '<td class="">?</td>' in text  # an unknown lag
    assert [row.get("class") for row in root.iter("tr")] == [None, "", "", "sum"]
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
    assert "url(http" not in text


def test_a_page_without_groups_has_no_picture() -> None:
    assert "no consumer groups" in page([], "now")
    assert "<svg" not in page([], "now")
    assert size_of(png([], "now"))[1] > 0


def test_groups_of_several_servers_are_named_with_their_server() -> None:
    groups = [replace(group(), server="a:1"), replace(group(), server="b:2")]
    assert {"a:1 in / g", "b:2 in / g"} <= set(texts(groups))
    assert '<th class="name">server</th>' in page(groups, "now")
