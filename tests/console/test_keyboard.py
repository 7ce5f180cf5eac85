"""All by keyboard: no step of these walks has a pointer."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.console.browsing import Console


def press(console: Console, *keys: str) -> None:
    for key in keys:
        console.page.keyboard.press(key)


def test_a_walk_through_streams_group_and_entry_and_back(console: Console):
    for key in ("a", "b", "c"):
        for number in range(3):
            console.redis.xadd(key, {"n": number})
    console.redis.xgroup_create("b", "workers", id="0")
    console.go("streams")
    expect(console.row("c")).to_be_visible()
    press(console, "j")
    expect(console.page.locator(":focus")).to_have_text(re.compile("^[abc]$"))
    press(console, "Home", "End", "k")
    expect(console.page.locator(":focus")).to_have_text("a")  # b has lag, and is the first
    press(console, "k")
    expect(console.page.locator(":focus")).to_have_text("b")
    press(console, "Enter")
    expect(console.page.locator("h1")).to_have_text("b")
    expect(console.row("workers")).to_be_visible()
    press(console, "j")
    expect(console.page.locator(":focus")).to_have_text("workers")
    press(console, "Enter")
    expect(console.page.locator("h1")).to_have_text("workers")
    expect(console.page.locator("table.entries tbody tr")).to_have_count(3)
    press(console, "j", "j")
    press(console, "Enter")
    expect(console.page.locator("h1")).to_have_text(re.compile(r"^\d+-\d+$"))
    press(console, "Escape")
    expect(console.page.locator("h1")).to_have_text("b")
    press(console, "Escape")
    expect(console.page.locator("h1")).to_have_text("Streams")


def test_g_and_a_letter_open_each_view(console: Console):
    console.go("streams")
    for letter, title in {
        "k": "Keys", "c": "Clients", "l": "Slow log", "t": "Latency", "m": "Memory",
        "r": "Replicas", "i": "Server", "s": "Streams", "x": "Command line",
    }.items():  # fmt: skip
        press(console, "g", letter)
        expect(console.page.locator("h1")).to_have_text(title)


def test_the_help_is_opened_and_closed_and_the_focus_returns(console: Console):
    console.redis.xadd("a", {"n": 1})
    console.go("streams")
    expect(console.row("a")).to_be_visible()
    press(console, "j", "?")
    expect(console.dialog).to_contain_text("How trouble is counted")
    press(console, "Escape")
    expect(console.dialog).to_have_count(0)
    expect(console.page.locator(":focus")).to_have_text("a")


def test_an_entry_is_marked_and_deleted(console: Console):
    ids = [console.redis.xadd("a", {"n": number}) for number in range(3)]
    console.go("stream", "a")
    expect(console.page.locator("table.entries tbody tr")).to_have_count(3)
    press(console, "j", "j", "Space")
    expect(console.page.get_by_label(f"Mark {ids[1]}")).to_be_checked()
    console.page.locator(".bar").get_by_role("button", name="Delete").focus()
    press(console, "Enter")
    expect(console.dialog).to_be_visible()
    console.dialog.get_by_role("button", name="Delete the entry").focus()
    press(console, "Enter")
    expect(console.dialog).to_have_count(0)
    assert [entry for entry, _ in console.redis.xrange("a")] == [ids[0], ids[2]]


def test_tabs_are_changed_by_arrows(console: Console):
    console.redis.xgroup_create("a", "workers", id="0", mkstream=True)
    console.go("stream", "a", "group", "workers")
    console.page.get_by_role("tab", name="Not delivered").focus()
    press(console, "ArrowRight")
    expect(console.page.get_by_role("tab", name="Pending")).to_be_focused()
    expect(console.page.get_by_text("Nothing is pending.")).to_be_visible()
    press(console, "ArrowLeft", "ArrowLeft")
    expect(console.page.get_by_role("tab", name="Dead")).to_have_attribute("aria-selected", "true")
    assert console.page.url.endswith("?tab=dead")


def test_what_has_the_focus_is_seen(console: Console):
    console.go("streams")
    console.page.keyboard.press("Tab")
    expect(console.page.get_by_role("link", name="To the content")).to_be_in_viewport()
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    for _ in range(8):
        console.page.keyboard.press("Tab")
        assert console.page.evaluate(outline) == "solid"
