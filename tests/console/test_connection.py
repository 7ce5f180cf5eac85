"""The server goes and comes back: a banner, attempts, and all goes on without a reload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.console.browsing import Chromium, Console, chromium_path, console_page
from tests.console.serving import ConsoleServer


@pytest.fixture
def own(chromium: Chromium, tmp_path: Path) -> Iterator[Console]:
    """A page, and a server that is only this test's."""
    chromium_path()
    server = ConsoleServer(tmp_path)
    try:
        with console_page(chromium.browser, server) as page:
            page.allowed.append(
                "ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE"
            )
            yield page
    finally:
        server.close()


def test_a_server_that_is_gone_and_comes_back_is_shown_without_a_reload(own: Console):
    own.redis.xadd("before", {"n": 1})
    own.go("streams")
    expect(own.row("before")).to_be_visible()
    own.page.evaluate("window.same = true")
    own.server.kill()
    banner = own.page.locator("#banner")
    expect(banner).to_be_visible()
    expect(banner).to_contain_text("The server does not answer.")
    expect(own.page.locator("#pulse")).to_have_text("offline")
    own.server.start()
    own.redis.xadd("after", {"n": 1})
    expect(banner).to_be_hidden()
    expect(own.row("after")).to_be_visible()
    expect(own.row("before")).to_have_count(0)
    expect(own.page.locator("#pulse")).to_have_text("live")
    own.redis.xadd("after", {"n": 2})
    expect(own.cell("after", "length")).to_have_text("2")
    assert own.page.evaluate("window.same")


def test_an_action_while_the_server_is_gone_says_so_and_can_be_tried_again(own: Console):
    own.go("streams")
    own.button("Add an entry").click()
    own.fill("Stream", "events")
    own.fill("Field 1", "n")
    own.server.kill()
    own.press("Add")
    expect(own.error).to_contain_text("The server does not answer.")
    own.server.start()
    expect(own.page.locator("#banner")).to_be_hidden()
    own.submit("Add")
    assert own.redis.xlen("events") == 1


def test_the_pauses_between_attempts_grow_and_one_can_try_at_once(own: Console):
    own.go("streams")
    own.server.kill()
    wait = own.page.locator("#banner-wait")
    expect(wait).to_have_text("Next in 4 s.")  # after attempts that followed 1 and 2 seconds
    own.server.start()
    own.page.get_by_role("button", name="Try now").click()
    expect(own.page.locator("#pulse")).to_have_text("live")
