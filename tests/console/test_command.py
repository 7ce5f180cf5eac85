"""The command line: replies as redis-cli writes them, history, completion, dangerous commands."""

from __future__ import annotations

import re
import subprocess

import pytest
from playwright.sync_api import Route, expect

from tests.compat.processes import redis_tool
from tests.console.browsing import Console


def run(console: Console, line: str) -> str:
    """Run a line, and return what it has answered."""
    shown = console.page.locator(".output pre")
    before = shown.count()
    console.page.get_by_label("Command", exact=True).fill(line)
    console.page.keyboard.press("Enter")
    expect(shown).to_have_count(before + 2)
    return shown.last.inner_text()


@pytest.fixture
def line(console: Console) -> Console:
    console.go("command")
    return console


def test_replies_are_written_as_redis_cli_writes_them(line: Console):
    line.redis.hset("h", mapping={"name": "Ann", "quote": 'say "hi"\n'})
    line.redis.xadd("s", {"n": 1}, id="1-1")
    line.redis.xgroup_create("s", "g", id="0")
    line.redis.sadd("t", "a")
    program = redis_tool("redis-cli")
    for command in (
        "PING", "SET k v", "GET k", "GET none", "STRLEN k", "HGETALL h", "XRANGE s - +",
        "LPUSH k x", "XINFO GROUPS s", "SMEMBERS t", "ZRANGE none 0 -1",
        'ECHO "a\\tb\\x01"', "NO SUCH", "TYPE k",
    ):  # fmt: skip
        asked = [program, "-3", "--no-raw", "-p", str(line.server.port)]
        expected = subprocess.run(asked, input=command, capture_output=True, text=True, check=True)
        assert run(line, command) == expected.stdout.rstrip("\n"), command


def test_an_error_is_in_another_colour(line: Console):
    assert run(line, "GET").startswith("(error) ERR wrong number of arguments")
    expect(line.page.locator(".output pre.wrong")).to_have_count(1)


def test_words_may_be_quoted_and_an_open_quote_sends_nothing(line: Console):
    assert run(line, "SET \"a key\" 'it\\'s'") == "OK"
    assert line.redis.get("a key") == "it's"
    assert run(line, 'SET k "open') == "A quote is not closed."
    assert line.redis.exists("k") == 0
    assert run(line, 'SET raw "\\xff\\x00"') == "OK"
    assert line.redis.strlen("raw") == 2


def test_arrows_bring_earlier_lines_back_also_after_a_reload(line: Console):
    run(line, "SET a 1")
    run(line, "SET b 2")
    field = line.page.get_by_label("Command", exact=True)
    field.press("ArrowUp")
    expect(field).to_have_value("SET b 2")
    field.press("ArrowUp")
    expect(field).to_have_value("SET a 1")
    field.press("ArrowDown")
    expect(field).to_have_value("SET b 2")
    line.page.reload()
    field.press("ArrowUp")
    expect(field).to_have_value("SET b 2")


def test_a_password_is_not_kept_in_the_history(line: Console):
    run(line, "SET a 1")
    run(line, "AUTH default secret")
    assert line.page.evaluate("localStorage.getItem('penstock.history')") == '["SET a 1"]'


def test_names_are_completed_with_syntax_and_summary(line: Console):
    field = line.page.get_by_label("Command", exact=True)
    field.press_sequentially("xgroup s")
    expect(line.page.get_by_role("listbox").get_by_role("option")).to_have_text(
        [re.compile("XGROUP SETID")]
    )
    field.press("Tab")
    expect(field).to_have_value("XGROUP SETID ")
    expect(line.page.locator(".syntax")).to_contain_text("XGROUP SETID key group")
    expect(line.page.locator(".syntax")).to_contain_text("Changes the ID after which")
    field.fill("")
    field.press_sequentially("XLE")
    field.press("ArrowDown")
    field.press("Enter")
    expect(field).to_have_value("XLEN ")


def test_what_was_typed_before_the_docs_came_is_completed_when_they_come(console: Console):
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "DOCS" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    console.page.route("**/api/commands", hold)
    console.go("command")
    console.page.get_by_label("Command", exact=True).press_sequentially("xgroup s")
    options = console.page.get_by_role("listbox").get_by_role("option")
    expect(options).to_have_count(0)
    for route in held:
        route.continue_()
    expect(options).to_have_text([re.compile("XGROUP SETID")])
    console.page.unroute("**/api/commands")


def test_a_dangerous_command_asks_first(line: Console):
    line.redis.set("kept", "x")
    line.page.get_by_label("Command", exact=True).fill("flushall")
    line.page.keyboard.press("Enter")
    expect(line.dialog).to_contain_text("FLUSHALL deletes all keys of all databases")
    line.press("Cancel")
    expect(line.dialog).to_have_count(0)
    assert line.redis.exists("kept") == 1
    line.page.keyboard.press("Enter")
    line.submit("Run it")
    expect(line.page.locator(".output pre").last).to_have_text("OK")
    assert line.redis.dbsize() == 0


@pytest.mark.parametrize("command", ["SHUTDOWN", "debug sleep 0", "config set hz 10", "KEYS *"])
def test_others_ask_too(line: Console, command: str):
    line.page.get_by_label("Command", exact=True).fill(command)
    line.page.keyboard.press("Enter")
    expect(line.dialog.get_by_role("button", name="Run it")).to_be_visible()
    line.press("Cancel")
    assert line.redis.ping()
