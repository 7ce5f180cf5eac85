"""Keys by pattern, and one key of each type."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.console.browsing import Console


def test_keys_are_listed_with_type_and_time_to_live_and_never_by_keys(console: Console):
    console.redis.set("session:1", "x", ex=1000)
    console.redis.hset("user:ann", mapping={"name": "Ann"})
    console.redis.xadd("events", {"n": 1})
    before = console.redis.info("commandstats").get("cmdstat_keys", {"calls": 0})["calls"]
    console.go("keys")
    expect(console.cell("session:1", "type")).to_have_text("string")
    expect(console.cell("session:1", "ttl")).to_have_text("16 min")
    expect(console.cell("user:ann", "ttl")).to_have_text("never")
    expect(console.cell("user:ann", "size")).to_have_text(re.compile(r"^\d+ B$"))
    expect(console.page.get_by_text("3 of 3 keys")).to_be_visible()
    after = console.redis.info("commandstats").get("cmdstat_keys", {"calls": 0})["calls"]
    assert after == before


def test_keys_are_found_by_pattern_and_type_and_the_link_has_both(console: Console):
    for number in range(3):
        console.redis.set(f"user:{number}", "x")
    console.redis.rpush("user:list", "x")
    console.redis.set("other", "x")
    console.go("keys")
    console.page.keyboard.press("/")
    console.page.keyboard.type("user:*")
    console.page.keyboard.press("Enter")
    expect(console.page.get_by_text("4 of 5 keys")).to_be_visible()
    console.page.get_by_label("Type").select_option("list")
    expect(console.page.get_by_text("1 of 5 keys")).to_be_visible()
    console.page.reload()
    expect(console.row("user:list")).to_be_visible()
    assert console.names() == ["user:list"]
    console.page.get_by_label("Pattern of keys").fill("nothing")
    console.page.keyboard.press("Enter")
    expect(console.page.get_by_text("No key has a name like this.")).to_be_visible()


def test_many_keys_come_a_page_at_a_time(console: Console):
    pipe = console.redis.pipeline(transaction=False)
    for number in range(1500):
        pipe.set(f"k{number}", "x")
    pipe.execute()
    console.go("keys")
    expect(console.page.locator(".summary")).to_contain_text("and there may be more")
    while console.button("More").is_visible():
        console.button("More").click()
        expect(console.page.locator(".summary")).to_have_text(re.compile("keys"))
    expect(console.page.locator(".summary")).to_have_text("1,500 of 1,500 keys")
    assert console.page.locator(".vspace .vrow").count() < 80


def test_a_string_is_shown_and_a_long_one_in_part_at_first(console: Console):
    console.redis.set("long", "y" * 100_000)
    console.go("key", "long")
    expect(console.fact("Size")).to_have_text("100,000 bytes")
    expect(console.page.get_by_text("The first 64 KB of 97.7 KB.")).to_be_visible()
    console.button("Ask for all of it").click()
    console.page.get_by_role("button", name="Show all (97.7 KB)").click()
    assert len(console.page.locator(".shown pre").inner_text()) == 100_000


def test_bytes_are_shown_as_hex(console: Console):
    console.redis.set(b"\xffkey", bytes(range(256)))
    console.go("keys")
    console.row("\\xffkey").click()
    expect(console.page.locator(".shown pre")).to_contain_text("0000f0  f0 f1 f2 f3")
    expect(console.page.locator("h1")).to_have_text("\\xffkey")


def test_a_hash_a_list_a_set_and_a_sorted_set_are_shown(console: Console):
    console.redis.hset("hash", mapping={"name": "Ann", "json": '{"a":1}'})
    console.redis.rpush("list", *range(250))
    console.redis.sadd("set", "tea")
    console.redis.zadd("zset", {"ann": 1.5})
    console.go("key", "hash")
    expect(console.row("name")).to_contain_text("Ann")
    expect(console.row("json").locator("pre")).to_have_text('{\n  "a": 1\n}')
    console.go("key", "list")
    expect(console.page.get_by_text("100 of 250 elements")).to_be_visible()
    console.button("More").click()
    console.button("More").click()
    expect(console.page.get_by_text("250 of 250 elements")).to_be_visible()
    expect(console.row("249")).to_contain_text("249")
    console.go("key", "set")
    expect(console.row("tea")).to_be_visible()
    console.go("key", "zset")
    expect(console.row("ann").locator("td").first).to_have_text("1.5")


def test_a_big_hash_comes_a_page_at_a_time(console: Console):
    console.redis.hset("hash", mapping={f"field{number}": "x" * 80 for number in range(1200)})
    console.go("key", "hash")
    expect(console.page.get_by_text(re.compile(r"^1\d\d of 1,200 fields$"))).to_be_visible()
    console.button("More").click()
    expect(console.page.get_by_text(re.compile(r"^2\d\d of 1,200 fields$"))).to_be_visible()


def test_the_time_to_live_is_changed_and_taken_away(console: Console):
    console.redis.set("session", "x")
    console.go("key", "session")
    console.button("Change expiry").click()
    console.fill("In seconds", "soon")
    console.press("Set")
    expect(console.error).to_have_text("A number of seconds, or nothing.")
    assert console.redis.ttl("session") == -1
    console.fill("In seconds", "500")
    console.submit("Set")
    assert 490 <= console.redis.ttl("session") <= 500
    expect(console.fact("Expires")).to_contain_text("in 8 min")
    console.button("Change expiry").click()
    console.fill("In seconds", "")
    console.submit("Set")
    assert console.redis.ttl("session") == -1


def test_a_key_is_renamed_but_not_onto_another(console: Console):
    console.redis.set("old", "x")
    console.redis.set("taken", "y")
    console.go("key", "old")
    console.button("Rename").click()
    console.fill("New name", "taken")
    console.press("Rename")
    expect(console.error).to_have_text("There is a key of that name. Delete it first.")
    assert console.redis.get("taken") == "y"
    console.fill("New name", "new")
    console.submit("Rename")
    expect(console.page.locator("h1")).to_have_text("new")
    assert console.redis.get("new") == "x"


def test_a_key_is_deleted_after_its_loss_is_named(console: Console):
    console.redis.hset("user", mapping={"name": "Ann", "mail": "a@example.org"})
    console.go("key", "user")
    console.button("Delete").click()
    assert console.losses() == ["a hash of 2 fields"]
    console.press("Cancel")
    assert console.redis.exists("user") == 1
    console.button("Delete").click()
    console.submit("Delete the key")
    expect(console.page.locator("h1")).to_have_text("Keys")
    assert console.redis.exists("user") == 0


def test_a_key_that_is_not_there_says_so(console: Console):
    console.open("key", "nothing")
    expect(console.error).to_have_text("There is no such key. It may have expired.")
