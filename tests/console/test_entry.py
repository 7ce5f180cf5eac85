"""One entry's life: its fields, its groups, its dead letters."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.console.browsing import Console

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def life(console: Console) -> list[str]:
    return console.page.locator(".life .state").all_inner_texts()


def test_each_group_says_what_it_has_done_with_it(console: Console):
    entry = console.redis.xadd("orders", {"n": 1})
    for group in ("ahead", "done", "holding"):
        console.redis.xgroup_create("orders", group, id="0")
    for group in ("done", "holding"):
        console.redis.xreadgroup(group, "ann", {"orders": ">"})
    console.redis.xack("orders", "done", entry)
    console.go("stream", "orders", "entry", entry)
    assert life(console)[1:] == [
        "ahead: not delivered yet", "done: acknowledged, or passed", "holding: pending with ann",
    ]  # fmt: skip
    expect(console.page.locator(".life")).to_contain_text("delivered 1 time")
    console.page.locator(".life").get_by_role("button", name="Acknowledge").click()
    console.submit("Acknowledge")
    expect(console.page.locator(".life")).to_contain_text("holding: acknowledged, or passed")
    assert console.redis.xpending("orders", "holding")["pending"] == 0


def test_json_is_set_out_and_bytes_are_hex(console: Console):
    fields = {"order": '{"id":7,"lines":["tea"]}', b"raw": b"\x00\xffPNG", "plain": "text"}
    entry = console.redis.xadd("orders", fields)
    console.go("stream", "orders", "entry", entry)
    values = console.page.locator(".value")
    expect(values.nth(0).locator("pre")).to_have_text(
        '{\n  "id": 7,\n  "lines": [\n    "tea"\n  ]\n}'
    )
    expect(values.nth(1).locator("pre")).to_have_text(
        re.compile(r"^000000  00 ff 50 4e 47 .*··PNG$")
    )
    values.nth(2).get_by_role("button", name="Show it as hex").click()
    expect(values.nth(2).locator("pre")).to_contain_text("74 65 78 74")


def test_a_long_value_is_cut_until_all_of_it_is_asked_for(console: Console):
    entry = console.redis.xadd("orders", {"page": "x" * 50_000})
    console.go("stream", "orders", "entry", entry)
    text = console.page.locator(".value pre")
    assert len(text.inner_text()) == 4000
    console.page.get_by_role("button", name="Show all (48.8 KB)").click()
    assert len(text.inner_text()) == 50_000


def test_a_traceparent_is_a_link_to_where_traces_are_shown(console: Console):
    entry = console.redis.xadd("orders", {"traceparent": f"00-{TRACE}-{SPAN}-01"})
    console.go("stream", "orders", "entry", entry)
    expect(console.page.get_by_role("link", name=TRACE)).to_have_count(0)
    console.button("Link traces").click()
    console.fill("Address", "javascript:alert(1)//{trace}")
    console.press("Keep")
    expect(console.error).to_contain_text("begins with https://")
    console.fill("Address", "https://traces.example/t/{trace}?span={span}")
    console.submit("Keep")
    expected = f"https://traces.example/t/{TRACE}?span={SPAN}"
    expect(console.page.get_by_role("link", name=TRACE)).to_have_attribute("href", expected)
    console.page.reload()
    expect(console.page.get_by_role("link", name=TRACE)).to_have_attribute("href", expected)


def test_its_dead_letter_is_part_of_its_life_and_leads_back(console: Console):
    entry = console.redis.xadd("jobs", {"n": 1})
    console.redis.xgroup_create("jobs", "workers", id="0")
    console.answers("XGROUP", "CFGSET", "jobs", "workers", "DEADLETTER", "dead", "MKSTREAM")
    console.redis.xreadgroup("workers", "ann", {"jobs": ">"})
    console.answers("XNACK", "jobs", "workers", "FATAL", "IDS", "1", entry, "REASON", "no stamp")
    [(letter, _)] = console.redis.xrange("dead")
    console.go("stream", "jobs", "entry", entry)
    assert life(console)[1:] == [f"workers: given up, as {letter}"]
    expect(console.page.locator(".life")).to_contain_text("no stamp")
    console.page.get_by_role("link", name=letter).click()
    expect(console.page.locator("h1")).to_have_text(letter)
    assert life(console)[0] == f"A dead letter of {entry}"
    console.button("Redrive").click()
    console.submit("Redrive")
    assert console.redis.xlen("dead") == 0
    assert [fields for _, fields in console.redis.xrange("jobs")] == [{"n": "1"}, {"n": "1"}]


def test_what_is_scheduled_says_when_it_is_due(console: Console):
    scheduled = console.answers("XADD", "jobs", "DELAY", "86400000", "*", "to", "ann")
    console.go("stream", "jobs", "entry", scheduled)
    assert life(console) == ["Scheduled"]
    expect(console.page.locator(".value")).to_contain_text("ann")


def test_an_entry_that_is_gone_says_so_and_a_neighbour_is_a_step_away(console: Console):
    ids = [console.redis.xadd("jobs", {"n": number}) for number in range(3)]
    console.go("stream", "jobs", "entry", ids[1])
    console.button("Newer →").click()
    expect(console.page.locator("h1")).to_have_text(ids[2])
    expect(console.button("Newer →")).to_be_disabled()
    console.button("← Older").click()
    expect(console.page.locator("h1")).to_have_text(ids[1])
    console.button("Delete").click()
    assert console.losses() == ["1 entry"]
    console.submit("Delete the entry")
    expect(
        console.page.get_by_text("It is not in the stream any more, or never was.")
    ).to_be_visible()
    assert console.redis.xlen("jobs") == 2
