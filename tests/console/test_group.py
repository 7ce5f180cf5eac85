"""A group's backlog as entries, and what is done in a group."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browsing import Console

MINUTE_MS = 60_000
NOON_MS = 1_763_985_600_000  # 2025-11-24 12:00 UTC


def id_of(number: int) -> str:
    return f"{NOON_MS + number * MINUTE_MS}-0"


@pytest.fixture
def jobs(console: Console) -> Console:
    """`jobs` has 20 entries; `workers` has read 6, of which ann and bob have three each."""
    for number in range(20):
        console.redis.xadd("jobs", {"n": number}, id=id_of(number))
    console.redis.xgroup_create("jobs", "workers", id="0")
    console.answers(
        *("XGROUP", "CFGSET", "jobs", "workers", "VISIBILITY", "600000"),
        *("DEADLETTER", "jobs:dead", "MKSTREAM", "MAXDELIVERIES", "3"),
    )
    for consumer in ("ann", "bob"):
        console.redis.xreadgroup("workers", consumer, {"jobs": ">"}, count=3)
    return console


def pending(console: Console) -> list[tuple[str, str, int]]:
    rows = console.redis.xpending_range("jobs", "workers", "-", "+", 100)
    return [(row["message_id"], row["consumer"], row["times_delivered"]) for row in rows]


def open_tab(console: Console, tab: str) -> None:
    console.go("stream", "jobs", "group", "workers", query=f"?tab={tab}")


def mark(console: Console, *numbers: int) -> None:
    for number in numbers:
        console.page.get_by_label(f"Mark {id_of(number)}").check()


def shown_ids(console: Console) -> list[str]:
    return console.page.locator("table.entries tbody th a").all_inner_texts()


def dead_of(console: Console) -> list[dict[str, str]]:
    return [fields for _, fields in console.redis.xrange("jobs:dead")]


def test_what_is_not_delivered_yet_is_shown_as_entries(jobs: Console):
    open_tab(jobs, "ahead")
    expect(jobs.fact("Lag")).to_have_text("14")
    expect(jobs.row(id_of(6))).to_be_visible()
    assert shown_ids(jobs) == [id_of(number) for number in range(6, 20)]


def test_what_is_pending_says_with_whom_since_when_and_how_often(jobs: Console):
    jobs.redis.xclaim("jobs", "workers", "cem", 0, [id_of(1)], idle=7_200_000, retrycount=4)
    open_tab(jobs, "pending")
    row = jobs.row(id_of(1))
    expect(row.locator("td").nth(2)).to_have_text("cem")
    expect(row.locator("td").nth(4)).to_have_text("2 h")
    expect(row.locator("td").nth(5)).to_have_text("4")
    expect(row.locator("td").nth(6)).to_have_text("n 1")
    assert len(shown_ids(jobs)) == 6


def test_a_pending_entry_that_left_the_stream_says_so(jobs: Console):
    jobs.redis.xdel("jobs", id_of(2))
    open_tab(jobs, "pending")
    expect(jobs.row(id_of(2))).to_contain_text("not in the stream any more")


def test_marked_entries_are_acknowledged(jobs: Console):
    open_tab(jobs, "pending")
    mark(jobs, 0, 4)
    jobs.button("Acknowledge").click()
    jobs.submit("Acknowledge")
    assert [row[0] for row in pending(jobs)] == [id_of(number) for number in (1, 2, 3, 5)]
    expect(jobs.row(id_of(0))).to_have_count(0)


def test_marked_entries_are_given_up_with_a_reason_and_redriven(jobs: Console):
    open_tab(jobs, "pending")
    mark(jobs, 1)
    jobs.button("Give back").click()
    jobs.choose("As", "FATAL")
    jobs.fill("Reason", "no such customer")
    jobs.submit("Give back")
    [letter] = dead_of(jobs)
    assert (letter["dead-id"], letter["dead-reason"]) == (id_of(1), "no such customer")
    jobs.page.get_by_role("tab", name="Dead").click()
    row = jobs.page.locator("table.entries tbody tr")
    expect(row).to_contain_text("no such customer")
    row.get_by_role("checkbox").check()
    jobs.button("Redrive").click()
    jobs.submit("Redrive")
    assert dead_of(jobs) == []
    assert jobs.redis.xlen("jobs") == 21


def test_an_entry_given_back_silently_is_nobodys_and_a_wrong_delay_changes_nothing(jobs: Console):
    open_tab(jobs, "pending")
    before = pending(jobs)
    mark(jobs, 3)
    jobs.button("Give back").click()
    jobs.choose("As", "SILENT")
    jobs.fill("Hold it for ms", "soon")
    jobs.press("Give back")
    expect(jobs.error).to_contain_text("ERR")
    assert pending(jobs) == before
    jobs.fill("Hold it for ms", "")
    jobs.submit("Give back")
    assert (id_of(3), "", 0) in pending(jobs)
    expect(jobs.row(id_of(3))).to_contain_text("nobody")


def test_marked_entries_are_claimed_for_a_consumer(jobs: Console):
    open_tab(jobs, "pending")
    mark(jobs, 0)
    jobs.button("Claim for").click()
    jobs.press("Claim")
    expect(jobs.error).to_have_text("Which consumer is to have them?")
    jobs.fill("Consumer", "dana")
    jobs.submit("Claim")
    assert (id_of(0), "dana", 1) in pending(jobs)
    expect(jobs.row(id_of(0))).to_contain_text("dana")
    expect(jobs.row("dana")).to_be_visible()


def test_all_dead_letters_are_redriven(jobs: Console):
    jobs.answers("XNACK", "jobs", "workers", "FATAL", "IDS", "2", id_of(0), id_of(1))
    open_tab(jobs, "dead")
    expect(jobs.page.locator("table.entries tbody tr")).to_have_count(2)
    jobs.button("Redrive all").click()
    jobs.submit("Redrive all")
    assert dead_of(jobs) == []
    expect(jobs.page.get_by_text("No dead letters.")).to_be_visible()


def test_a_group_is_paused_and_resumed(jobs: Console):
    open_tab(jobs, "ahead")
    jobs.button("Pause the group").click()
    jobs.submit("Pause the group")
    expect(jobs.fact("State")).to_have_text("paused")
    assert jobs.redis.xreadgroup("workers", "ann", {"jobs": ">"}) in ([], {}, None)
    jobs.button("Resume the group").click()
    jobs.submit("Resume the group")
    expect(jobs.fact("State")).to_have_text("delivers")
    assert jobs.redis.xreadgroup("workers", "ann", {"jobs": ">"})


def test_a_consumer_is_deleted_and_what_it_had_goes_back(jobs: Console):
    open_tab(jobs, "ahead")
    jobs.page.get_by_role("button", name="Delete the consumer ann").click()
    expect(jobs.dialog).to_contain_text("It has 3 pending entries.")
    jobs.submit("Delete the consumer")
    assert pending(jobs)[:3] == [(id_of(number), "", 0) for number in range(3)]
    jobs.page.get_by_role("button", name="Delete the consumer bob").click()
    jobs.choose("What it has", "drop")
    jobs.submit("Delete the consumer")
    assert len(pending(jobs)) == 3
    expect(jobs.page.get_by_text("No consumer has read yet.")).to_be_visible()


def position(console: Console) -> dict[str, object]:
    [group] = console.redis.xinfo_groups("jobs")
    return {name: group[name] for name in ("last-delivered-id", "lag", "pending")}


def test_a_move_forward_says_what_would_be_skipped(jobs: Console):
    open_tab(jobs, "ahead")
    jobs.button("Move").click()
    jobs.fill("Entry or time", id_of(15))
    expect(jobs.dialog.locator(".preview strong")).to_have_text("9 entries")
    preview = jobs.dialog.locator(".preview")
    expect(preview).to_contain_text("would be skipped")
    expect(preview).to_contain_text(id_of(6))
    expect(preview).to_contain_text(id_of(14))
    expect(preview).to_contain_text("5 entries are not delivered yet")
    expect(preview).to_contain_text("6 pending stay pending")
    jobs.submit("Move the group")
    assert position(jobs) == {
        "last-delivered-id": f"{NOON_MS + 15 * MINUTE_MS - 1}-18446744073709551615",
        "lag": 5,
        "pending": 6,
    }
    expect(jobs.fact("Lag")).to_have_text("5")


def test_a_move_back_to_a_time_says_what_would_be_delivered_again(jobs: Console):
    open_tab(jobs, "ahead")
    jobs.button("Move").click()
    jobs.fill("Entry or time", "2025-11-24 12:02Z")
    expect(jobs.dialog.locator(".preview strong")).to_have_text("4 entries")
    preview = jobs.dialog.locator(".preview")
    expect(preview).to_contain_text("would be delivered again")
    expect(preview).to_contain_text(id_of(2))
    expect(preview).to_contain_text(id_of(5))
    jobs.dialog.get_by_label("Forget what is pending").check()
    expect(preview).to_contain_text("6 pending would be forgotten")
    jobs.submit("Move the group")
    assert position(jobs)["pending"] == 0
    assert position(jobs)["lag"] == 18
    [[_, entries]] = jobs.redis.xreadgroup("workers", "ann", {"jobs": ">"}, count=1)
    assert entries[0][0] == id_of(2)


@pytest.mark.parametrize(
    ("way", "words", "lag"), [("beginning", "delivered again", 20), ("end", "skipped", 0)]
)
def test_a_move_to_an_end_says_it_too(jobs: Console, way: str, words: str, lag: int):
    open_tab(jobs, "ahead")
    jobs.button("Move").click()
    jobs.choose("How", way)
    expect(jobs.dialog.locator(".preview")).to_contain_text(words)
    jobs.submit("Move the group")
    assert position(jobs)["lag"] == lag


def test_a_move_skips_what_was_shown_and_nothing_that_has_come_since(jobs: Console):
    open_tab(jobs, "ahead")
    jobs.button("Move").click()
    jobs.choose("How", "end")
    expect(jobs.dialog.locator(".preview")).to_contain_text("skipped")
    jobs.redis.xadd("jobs", {"came": "since"})
    jobs.submit("Move the group")
    assert position(jobs)["lag"] == 1


def test_a_move_to_nowhere_cannot_be_carried_out(jobs: Console):
    open_tab(jobs, "ahead")
    before = position(jobs)
    jobs.button("Move").click()
    expect(jobs.dialog.get_by_role("button", name="Move the group")).to_be_disabled()
    jobs.fill("Entry or time", "next tuesday")
    expect(jobs.error).to_contain_text("This is no id and no time.")
    expect(jobs.dialog.get_by_role("button", name="Move the group")).to_be_disabled()
    jobs.press("Cancel")
    assert position(jobs) == before


def test_a_group_is_deleted_after_what_is_lost_is_named(jobs: Console):
    open_tab(jobs, "ahead")
    jobs.page.locator(".head").get_by_role("button", name="Delete").click()
    assert jobs.losses() == [
        "how far it has read",
        "6 pending entries: which they are, and who has them",
        "2 consumers",
        "what it does by itself: its policy",
    ]
    jobs.submit("Delete the group")
    expect(jobs.page.locator("h1")).to_have_text("jobs")
    assert jobs.redis.xinfo_groups("jobs") == []


def test_a_list_follows_by_itself_but_not_while_something_is_marked(jobs: Console):
    open_tab(jobs, "pending")
    expect(jobs.row(id_of(5))).to_be_visible()
    jobs.redis.xack("jobs", "workers", id_of(5))
    expect(jobs.row(id_of(5))).to_have_count(0)
    mark(jobs, 0)
    jobs.redis.xack("jobs", "workers", id_of(4))
    again = jobs.page.get_by_role("button", name="This has changed: show it again")
    expect(again).to_be_visible()
    expect(jobs.row(id_of(4))).to_be_visible()
    again.click()
    expect(jobs.row(id_of(4))).to_have_count(0)


def test_a_group_that_is_not_there_says_so(jobs: Console):
    jobs.open("stream", "jobs", "group", "nobody")
    expect(jobs.error).to_contain_text("NOGROUP")
