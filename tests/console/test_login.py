"""Log-in, the end of a session, a user without rights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from playwright.sync_api import expect

from tests.console.browsing import Chromium, Console, console_page
from tests.console.serving import ConsoleServer

FAILED_LOAD = r"status of (401|403|429)"  # the browser says so of each


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleServer]:
    """A server with a password, and a user who may only read streams of reports."""
    server = ConsoleServer(tmp_path_factory.mktemp("guarded"), "--requirepass", "secret")
    server.redis = redis.Redis(port=server.port, password="secret", decode_responses=True)
    server.redis.acl_setuser(
        "reader", enabled=True, passwords=["+read"], keys=["reports*"], categories=["+@read"],
        commands=["+xinfo", "+ping", "+hello", "+auth", "+select"],
    )  # fmt: skip
    server.redis.xadd("reports", {"n": 1})
    server.redis.xadd("salaries", {"n": 1})
    yield server
    server.close()


@pytest.fixture
def door(chromium: Chromium, guarded: ConsoleServer) -> Iterator[Console]:
    with console_page(chromium.browser, guarded) as page:
        page.allowed.append(FAILED_LOAD)
        yield page


def log_in(console: Console, user: str, password: str) -> None:
    console.page.get_by_label("User").fill(user)
    console.page.get_by_label("Password").fill(password)
    console.page.get_by_role("button", name="Log in").click()


def test_a_wrong_password_is_refused_and_the_right_one_leads_to_the_view_of_the_link(door: Console):
    door.open("stream", "reports")
    expect(door.page.locator("h1")).to_have_text("Log in")
    log_in(door, "default", "wrong")
    expect(door.error).to_contain_text("WRONGPASS")
    log_in(door, "default", "secret")
    expect(door.page.locator("h1")).to_have_text("reports")
    expect(door.fact("Length")).to_have_text("1")


def test_a_session_that_has_ended_asks_again_and_is_back_at_its_view(door: Console):
    door.open("stream", "reports")
    log_in(door, "default", "secret")
    expect(door.fact("Length")).to_have_text("1")
    door.page.evaluate("window.same = true")
    for client in door.redis.client_list():
        if client["addr"] != door.redis.client_info()["addr"]:
            door.redis.client_kill_filter(_id=client["id"])
    expect(door.page.locator("h1")).to_have_text("Log in")
    expect(door.page.get_by_text("The session has ended.")).to_be_visible()
    log_in(door, "default", "secret")
    expect(door.page.locator("h1")).to_have_text("reports")
    assert door.page.evaluate("window.same")


def test_one_logs_out(door: Console):
    door.open("streams")
    log_in(door, "default", "secret")
    expect(door.row("reports")).to_be_visible()
    door.page.get_by_role("button", name="Log out").click()
    expect(door.page.locator("h1")).to_have_text("Log in")
    door.page.reload()
    expect(door.page.locator("h1")).to_have_text("Log in")


def test_a_user_sees_and_does_what_his_rights_allow(door: Console):
    door.open("streams")
    log_in(door, "reader", "read")
    expect(door.row("reports")).to_be_visible()
    assert door.names() == ["reports"]
    door.row("reports").click()
    expect(door.fact("Length")).to_have_text("1")
    door.button("Add an entry").click()
    door.fill("Field 1", "n")
    door.press("Add")
    expect(door.error).to_contain_text("NOPERM")
    assert door.redis.xlen("reports") == 1
    door.press("Cancel")
    door.page.locator(".head").get_by_role("button", name="Delete").click()
    door.press("Delete the stream")
    expect(door.error).to_contain_text("NOPERM")
    assert door.redis.exists("reports") == 1
    door.press("Cancel")
    door.page.get_by_role("link", name="Clients").click()
    expect(door.error).to_contain_text("NOPERM")
    door.page.get_by_role("link", name="Streams").first.click()
    expect(door.row("reports")).to_be_visible()


def test_too_many_attempts_are_told_to_wait(chromium: Chromium, tmp_path: Path):
    server = ConsoleServer(tmp_path, "--requirepass", "secret")
    try:
        with console_page(chromium.browser, server) as page:
            page.allowed.append(FAILED_LOAD)
            page.open("streams")
            wait = page.page.get_by_text(re.compile(r"Too many attempts\. Try again in \d+ s\."))
            for _ in range(50):
                with page.page.expect_response("**/api/login"):
                    log_in(page, "default", "guess")
                expect(page.page.get_by_role("button", name="Log in")).to_be_enabled()
                if wait.is_visible():
                    break
            expect(wait).to_be_visible()
    finally:
        server.close()
