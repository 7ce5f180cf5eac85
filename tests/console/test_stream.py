"""One stream: its figures, its entries page by page, and what is done to it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.console.browsing import Console

MINUTE_MS = 60_000
NOON_MS = 1_763_985_600_000  # 2025-11-24 12:00 UTC


@pytest.fixture
def filled(console: Console) -> Console:
    """`events` has 120 entries, one a minute; `readers` has read 100, and two are pending."""
    pipe = console.redis.pipeline(transaction=False)
    for number in range(120):
        pipe.xadd("events", {"n": number}, id=f"{NOON_MS + number * MINUTE_MS}-0")
    pipe.xgroup_create("events", "readers", id="0")
    pipe.xreadgroup("readers", "ann", {"events": ">"}, count=100)
    pipe.execute()
    ids = [entry_id for entry_id, _ in console.redis.xrange("events", count=100)]
    console.redis.xack("events", "readers", *ids[2:])
    return console


def shown_ids(console: Console) -> list[str]:
    return console.page.locator("table.entries tbody th a").all_inner_texts()


def id_of(number: int) -> str:
    return f"{NOON_MS + number * MINUTE_MS}-0"


def test_its_figures_and_its_groups_are_shown_and_follow(filled: Console):
    filled.go("stream", "events")
    expect(filled.fact("Length")).to_have_text("120")
    expect(filled.fact("Pending")).to_have_text("2")
    expect(filled.fact("Last id")).to_have_text(id_of(119))
    row = filled.row("readers")
    expect(row.locator("td").nth(0)).to_have_text("20")
    expect(row.locator("td").nth(1)).to_have_text("2")
    filled.redis.xack("events", "readers", id_of(0))
    expect(row.locator("td").nth(1)).to_have_text("1")


def test_what_it_gives_up_by_itself_is_shown(filled: Console):
    filled.answers("XCFGSET", "events", "RETAIN-LENGTH", "5000")
    filled.answers("XGROUP", "CFGSET", "events", "readers", "VISIBILITY", "30000")
    filled.go("stream", "events")
    expect(filled.fact("Retention")).to_have_text("retain-length 5000")
    expect(filled.row("readers").locator("td").last).to_have_text("visibility 30000")


def test_entries_are_browsed_newest_first_a_page_at_a_time(filled: Console):
    filled.go("stream", "events")
    expect(filled.page.get_by_text("1–50 of 120")).to_be_visible()
    assert shown_ids(filled)[0] == id_of(119)
    filled.button("Older →").click()
    expect(filled.page.get_by_text("51–100 of 120")).to_be_visible()
    filled.button("Older →").click()
    expect(filled.page.get_by_text("101–120 of 120")).to_be_visible()
    assert shown_ids(filled)[-1] == id_of(0)
    expect(filled.button("Older →")).to_be_disabled()
    filled.button("← Newer").click()
    expect(filled.page.get_by_text("51–100 of 120")).to_be_visible()
    filled.button("Newest").click()
    expect(filled.page.get_by_text("1–50 of 120")).to_be_visible()


def test_a_jump_to_an_id_or_a_time_shows_it_as_the_oldest_of_the_page(filled: Console):
    filled.go("stream", "events")
    jump = filled.page.get_by_placeholder("Go to id, time or age")
    jump.fill(id_of(30))
    jump.press("Enter")
    expect(filled.page.get_by_text("41–90 of 120")).to_be_visible()
    assert shown_ids(filled)[-1] == id_of(30)
    jump.fill("2025-11-24 12:10:30Z")
    jump.press("Enter")
    expect(filled.page.get_by_text("60–109 of 120")).to_be_visible()
    assert shown_ids(filled)[-1] == id_of(11)


def test_a_jump_to_what_is_no_time_says_so_and_stays(filled: Console):
    filled.go("stream", "events")
    expect(filled.page.get_by_text("1–50 of 120")).to_be_visible()
    jump = filled.page.get_by_placeholder("Go to id, time or age")
    jump.fill("yesterday-ish")
    jump.press("Enter")
    expect(filled.error).to_contain_text("This is no id and no time.")
    assert shown_ids(filled)[0] == id_of(119)


def test_newer_entries_are_offered_and_nothing_moves_meanwhile(filled: Console):
    filled.go("stream", "events")
    expect(filled.page.get_by_text("1–50 of 120")).to_be_visible()
    new = filled.redis.xadd("events", {"n": "new"})
    offer = filled.page.get_by_role("button", name="1 newer entry: show")
    expect(offer).to_be_visible()
    assert shown_ids(filled)[0] == id_of(119)
    offer.click()
    expect(filled.page.get_by_text("1–50 of 121")).to_be_visible()
    assert shown_ids(filled)[0] == new


def test_an_entry_is_added_and_a_wrong_id_changes_nothing(filled: Console):
    filled.go("stream", "events")
    filled.button("Add an entry").click()
    filled.fill("Field 1", "n")
    filled.fill("Id", "1-1")
    filled.press("Add")
    expect(filled.error).to_contain_text("equal or smaller than the target stream top item")
    assert filled.redis.xlen("events") == 120
    filled.fill("Id", "*")
    filled.page.get_by_role("button", name="One more field").click()
    filled.fill("Field 2", "m")
    filled.fill("Value 2", "7")
    filled.submit("Add")
    expect(filled.page.get_by_role("status").first).to_contain_text("Added ")
    assert filled.redis.xrevrange("events", count=1)[0][1] == {"n": "", "m": "7"}


def test_an_entry_is_scheduled_shown_and_forgotten(filled: Console):
    filled.go("stream", "events")
    filled.button("Add an entry").click()
    filled.fill("Field 1", "later")
    filled.fill("Add it later, after ms", "86400000")
    filled.submit("Add")
    [[scheduled, _]] = filled.answers("XSCHEDULED", "events")
    expect(filled.page.get_by_role("heading", name="Added later")).to_be_visible()
    filled.page.get_by_role("button", name=f"Forget {scheduled}").click()
    assert filled.losses() == [f"{scheduled}: it will not be added"]
    filled.submit("Forget")
    assert filled.answers("XSCHEDULED", "events") == []
    expect(filled.page.get_by_role("heading", name="Added later")).to_be_hidden()


def test_a_trim_says_before_what_would_go_and_for_whom(filled: Console):
    filled.go("stream", "events")
    filled.button("Trim").click()
    filled.fill("How many, or since when", "10")
    expect(filled.dialog.locator(".preview strong")).to_have_text("110 entries")
    assert filled.losses() == [
        "2 of them pending in the group readers",
        "10 of them not delivered yet in the group readers",
    ]
    filled.submit("Trim")
    assert filled.redis.xlen("events") == 10


@pytest.mark.parametrize(("kept", "gone"), [(10, 110), (0, 120)])
def test_a_trim_removes_what_was_shown_whatever_has_come_since(
    filled: Console, kept: int, gone: int
):
    filled.go("stream", "events")
    filled.button("Trim").click()
    filled.fill("How many, or since when", str(kept))
    expect(filled.dialog.locator(".preview strong")).to_have_text(f"{gone} entries")
    for _ in range(3):
        filled.redis.xadd("events", {"came": "since"})
    filled.submit("Trim")
    assert filled.redis.xlen("events") == kept + 3


def test_a_trim_by_time_goes_up_to_it(filled: Console):
    filled.go("stream", "events")
    filled.button("Trim").click()
    filled.choose("What stays", "MINID")
    filled.fill("How many, or since when", "soon")
    expect(filled.error).to_contain_text("An id (")
    expect(filled.dialog.get_by_role("button", name="Trim")).to_be_disabled()
    filled.fill("How many, or since when", "2025-11-24 13:00Z")
    expect(filled.dialog.locator(".preview strong")).to_have_text("60 entries")
    filled.submit("Trim")
    assert filled.redis.xrange("events", count=1)[0][0] == id_of(60)


def test_entries_are_deleted_after_their_groups_are_named(filled: Console):
    filled.redis.xgroup_create("events", "late", id="0")
    filled.go("stream", "events", query="")
    jump = filled.page.get_by_placeholder("Go to id, time or age")
    jump.fill(id_of(0))
    jump.press("Enter")
    filled.page.get_by_label(f"Mark {id_of(0)}").check()
    filled.page.get_by_label(f"Mark {id_of(5)}").check()
    expect(filled.page.get_by_text("2 marked")).to_be_visible()
    filled.page.locator(".bar").get_by_role("button", name="Delete").click()
    assert filled.losses() == [
        "2 entries",
        "2 of them not delivered yet in the group late",
        "1 of them pending in the group readers",
    ]
    filled.press("Cancel")
    assert filled.redis.xlen("events") == 120
    filled.page.locator(".bar").get_by_role("button", name="Delete").click()
    filled.submit("Delete 2 entries")
    assert filled.redis.xlen("events") == 118


def test_a_stream_is_deleted_after_all_that_is_lost_is_named(filled: Console):
    filled.answers("XADD", "events", "DELAY", "86400000", "*", "a", "b")
    filled.answers("XSCHEDULE", "events", "ping", "EVERY", "86400000", "*", "a", "b")
    filled.go("stream", "events")
    filled.page.locator(".head").get_by_role("button", name="Delete").click()
    assert filled.losses() == [
        "120 entries",
        "the group readers, with 2 pending entries",
        "1 scheduled entry",
        "1 recurring job",
    ]
    filled.submit("Delete the stream")
    expect(filled.page.locator("h1")).to_have_text("Streams")
    assert filled.redis.exists("events") == 0


def test_a_group_is_created_and_one_that_is_there_is_refused(filled: Console):
    filled.go("stream", "events")
    filled.button("Create a group").click()
    filled.fill("Name", "readers")
    filled.press("Create")
    expect(filled.error).to_contain_text("BUSYGROUP")
    filled.fill("Name", "fresh")
    filled.fill("It reads after", "2025-11-24 13:00Z")
    filled.submit("Create")
    expect(filled.row("fresh")).to_be_visible()
    [fresh] = [group for group in filled.redis.xinfo_groups("events") if group["name"] == "fresh"]
    assert fresh["last-delivered-id"] == id_of(60)


def test_a_stream_that_is_not_there_and_a_key_of_another_type_say_so(console: Console):
    console.redis.set("text", "x")
    console.open("stream", "nothing")
    expect(console.error).to_have_text("There is no such stream. An entry makes one.")
    console.open("stream", "text")
    expect(console.error).to_have_text("text is no stream, but a string.")


def test_a_route_that_is_none_says_so(console: Console):
    console.open("nowhere")
    expect(console.page.locator("h1")).to_have_text(re.compile("no such view"))
