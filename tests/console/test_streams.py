"""The table of streams: order by trouble, live, quiet, with a filter."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.console.browsing import Console

# Notes the names of rows in which anything has changed.
NOTE_CHANGES = """() => {
  window.changed = new Set();
  const everything = {subtree: true, childList: true, characterData: true, attributes: true};
  new MutationObserver((records) => records.forEach(({target}) => {
    const row = (target.closest ? target : target.parentElement).closest(".vrow");
    window.changed.add(row ? row.querySelector("a").textContent : "table");
  })).observe(document.querySelector(".vspace"), everything);
}"""


def behind(console: Console, key: str, entries: int, group: str = "workers") -> None:
    """A stream whose group has *entries* still to read, and nobody who reads."""
    console.redis.xgroup_create(key, group, id="0", mkstream=True)
    for number in range(entries):
        console.redis.xadd(key, {"n": number})


def test_the_stream_in_trouble_stands_first_and_its_figures_are_the_servers(console: Console):
    console.redis.xadd("calm", {"n": 1})
    behind(console, "late", 120)
    console.go("streams")
    expect(console.row("calm")).to_be_visible()
    assert console.names() == ["late", "calm"]
    expect(console.cell("late", "lag")).to_have_text("120")
    expect(console.cell("late", "length")).to_have_text("120")
    expect(console.row("late").locator(".bars")).to_have_attribute(
        "aria-label", "306 points: nobody reads"
    )


def test_what_is_not_known_is_a_dash_and_never_zero(console: Console):
    console.redis.xadd("alone", {"n": 1})
    console.go("streams")
    expect(console.cell("alone", "lag")).to_have_text("–")
    expect(console.cell("alone", "oldest")).to_have_text("–")
    expect(console.cell("alone", "pending")).to_have_text("0")


def test_what_is_added_shows_by_itself_and_touches_no_other_row(console: Console):
    for key in ("one", "two", "three"):
        console.redis.xadd(key, {"n": 1})
    console.go("streams")
    expect(console.cell("two", "rate")).to_have_text("0/s")
    expect(console.cell("three", "rate")).to_have_text("0/s")
    console.page.evaluate(NOTE_CHANGES)
    console.redis.xadd("two", {"n": 2})
    expect(console.cell("two", "length")).to_have_text("2")
    assert console.page.evaluate("[...window.changed]") == ["two"]
    expect(console.cell("two", "rate")).to_have_text(re.compile(r"^0\.\d+/s$"))


def test_a_stream_that_is_deleted_leaves_the_table(console: Console):
    console.redis.xadd("kept", {"n": 1})
    console.redis.xadd("lost", {"n": 1})
    console.go("streams")
    expect(console.row("lost")).to_be_visible()
    console.redis.delete("lost")
    expect(console.row("lost")).to_have_count(0)
    expect(console.row("kept")).to_be_visible()


def test_a_pause_holds_the_figures_until_it_ends(console: Console):
    console.redis.xadd("events", {"n": 1})
    console.go("streams")
    expect(console.cell("events", "length")).to_have_text("1")
    with console.page.expect_response("**/api/watch"):
        console.page.get_by_role("button", name="Pause").click()
    expect(console.page.locator("#pulse")).to_have_text("paused")
    console.redis.xadd("events", {"n": 2})
    expect(console.cell("events", "length")).to_have_text("1")
    console.page.keyboard.press("p")
    expect(console.cell("events", "length")).to_have_text("2")


def test_a_filter_is_a_pattern_and_part_of_the_link(console: Console):
    for key in ("orders:1", "orders:2", "mails"):
        console.redis.xadd(key, {"n": 1})
    console.go("streams")
    console.page.keyboard.press("/")
    console.page.keyboard.type("orders:?")
    expect(console.row("mails")).to_have_count(0)
    assert console.names() == ["orders:1", "orders:2"]
    console.page.reload()
    expect(console.row("orders:2")).to_be_visible()
    expect(console.row("mails")).to_have_count(0)
    console.page.locator("[data-filter]").fill("nothing like it")
    expect(console.page.get_by_text("No stream has a name like this.")).to_be_visible()


def test_the_order_is_held_under_the_pointer_until_it_leaves(console: Console):
    for key in ("a", "b", "c"):
        console.redis.xadd(key, {"n": 1})
    console.go("streams")
    expect(console.row("c")).to_be_visible()
    console.row("a").hover()
    behind(console, "c", 150)
    expect(console.page.get_by_text("The order is held while you are here.")).to_be_visible()
    assert console.names() == ["a", "b", "c"]
    console.page.locator("h1").hover()
    expect(console.page.locator(".vspace [role=rowheader]").first).to_have_text("c")


def test_r_sorts_again_where_the_pointer_is(console: Console):
    for key in ("a", "b"):
        console.redis.xadd(key, {"n": 1})
    console.go("streams")
    console.row("a").hover()
    behind(console, "b", 150)
    expect(console.page.get_by_text("The order is held while you are here.")).to_be_visible()
    console.page.keyboard.press("r")
    expect(console.page.locator(".vspace [role=rowheader]").first).to_have_text("b")


def test_a_column_sorts_largest_first_and_a_second_time_by_trouble_again(console: Console):
    console.redis.xadd("short", {"n": 1})
    for number in range(5):
        console.redis.xadd("tall", {"n": number})
    console.go("streams")
    expect(console.row("tall")).to_be_visible()
    assert console.names() == ["short", "tall"]
    console.page.get_by_role("button", name="Length").click()
    assert console.names() == ["tall", "short"]
    heading = console.page.get_by_role("columnheader", name="Length")
    expect(heading).to_have_attribute("aria-sort", "descending")
    console.page.get_by_role("button", name="Length").click()
    assert console.names() == ["short", "tall"]


def test_a_row_opens_its_stream(console: Console):
    console.redis.xadd("events/é 1", {"n": 1})
    console.go("streams")
    console.row("events/é 1").click()
    expect(console.page.locator("h1")).to_have_text("events/é 1")
    expect(console.fact("Length")).to_have_text("1")


def test_names_of_bytes_and_of_markup_are_shown_as_they_are(console: Console):
    console.redis.xadd(b"raw\xff\x00", {"n": 1})
    console.redis.xadd("<img src=x onerror=alert(1)>", {"<b>": "<script>1</script>"})
    console.go("streams")
    expect(console.row("<img src=x onerror=alert(1)>")).to_be_visible()
    console.row("raw\\xff\\x00").click()
    expect(console.page.locator("h1")).to_have_text("raw\\xff\\x00")
    expect(console.fact("Length")).to_have_text("1")
    console.go("stream", "<img src=x onerror=alert(1)>")
    expect(console.page.locator("table.entries .fields").last).to_have_text(
        "<b> <script>1</script>"
    )
    assert console.page.locator("main img, main script").count() == 0


def test_an_entry_for_a_new_stream_makes_it(console: Console):
    console.go("streams")
    console.button("Add an entry").click()
    console.press("Add")
    expect(console.error).to_have_text("The stream needs a name.")
    console.fill("Stream", "fresh")
    console.fill("Field 1", "colour")
    console.fill("Value 1", "green\nand blue")
    console.submit("Add")
    expect(console.page.locator("h1")).to_have_text("fresh")
    assert [fields for _, fields in console.redis.xrange("fresh")] == [
        {"colour": "green\nand blue"}
    ]


def test_another_database_is_part_of_the_link(console: Console):
    console.redis.xadd("here", {"n": 1})
    other = console.redis.__class__(port=console.server.port, db=3)
    other.xadd("there", {"n": 1})
    other.close()
    console.go("streams")
    expect(console.row("here")).to_be_visible()
    console.page.get_by_label("Database").select_option("3")
    expect(console.row("there")).to_be_visible()
    expect(console.row("here")).to_have_count(0)
    console.row("there").click()
    assert console.page.url.endswith("#/stream/there?db=3")
    expect(console.fact("Length")).to_have_text("1")
