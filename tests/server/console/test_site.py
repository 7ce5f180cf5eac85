"""The console as a part of the server: its page, TLS, and no cost until it is used."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from server.console.static_files import FOLDER
from tests.server.console.browser import browsing, in_a_loop

LIGHT = """
import sys, server.app, server.sites
print([name for name in sys.modules if name.startswith("server.console") or name == "h11"])
"""


def test_nothing_is_imported_before_somebody_asks():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@in_a_loop
async def test_the_page_and_its_modules():
    async with browsing() as browser:
        page = await browser.ask("GET", "/console/")
        assert page.status == 200
        assert page.header("content-type") == "text/html; charset=utf-8"
        assert page.body == (FOLDER / "index.html").read_bytes()
        for path in FOLDER.rglob("*.*"):
            name = path.relative_to(FOLDER).as_posix()
            answer = await browser.ask("GET", f"/console/{name}")
            assert (answer.status, answer.body) == (200, path.read_bytes())
            again = await browser.ask(
                "GET", f"/console/{name}", None, if_none_match=answer.header("etag")
            )
            assert (again.status, again.body) == (304, b"")


@in_a_loop
async def test_answers_without_a_body_have_no_length_of_one():
    async with browsing() as browser:
        await browser.begin()
        tag = (await browser.ask("GET", "/console/")).header("etag")
        same = await browser.ask("GET", "/console/", None, if_none_match=tag)
        out = await browser.post("logout", {})
        assert [answer.status for answer in (same, out)] == [304, 204]
        for answer in (same, out):
            names = {name for name, _ in answer.headers}
            assert not {"content-length", "content-type", "transfer-encoding"} & names


@in_a_loop
async def test_the_page_is_shown_without_a_session_and_the_api_is_not():
    async with browsing(requirepass="secret") as browser:
        assert (await browser.ask("GET", "/console/")).status == 200
        assert (await browser.api("live")).status == 401


@in_a_loop
async def test_over_tls_the_cookie_is_sent_over_tls_alone(certificates):
    async with browsing(**certificates.parameters(metrics_tls=True)) as browser:
        browser.tls = certificates.context()
        cookie = (await browser.api("session", host="penstock.example")).header("set-cookie")
        assert cookie.endswith("; SameSite=Strict; Secure")
        browser.cookie = ""
        await browser.begin()
        events = await browser.listen()
        await browser.watch(events, watches=[{"name": "x", "commands": [["ECHO", "x" * 9000]]}])
        assert (await events.next())[1]["replies"] == ["x" * 9000]
        assert await browser.run("PING") == ["PONG"]


FORBIDDEN = [
    r'(src|href)="?(https?:)?//',  # another host
    r"url\(",
    r"""(import|from)\s*\(?["']https?:""",
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function)",
]
FORBIDDEN_IN_HTML = [r"\sstyle=", r"\son[a-z]+=", r"<script(?![^>]*\ssrc=)", r"<style"]


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.*")), ids=lambda path: path.name)
def test_the_page_has_nothing_that_the_policy_forbids(path):
    """It would not work; or, where HTML is made of texts, a text could become a script."""
    text = path.read_text()
    forbidden = FORBIDDEN + (FORBIDDEN_IN_HTML if path.suffix == ".html" else [])
    assert [pattern for pattern in forbidden if re.search(pattern, text)] == []
