"""Sessions: logging in and out, cookies, CSRF tokens, their ends, and what other people can do."""

from __future__ import annotations

import asyncio
import json

import pytest

from server.console import sessions
from server.console.api import Api
from server.console.attempts import FREE
from server.console.local_client import LocalClient
from server.console.runner import Runner
from server.console.sessions import IDLE_MS, LONGEST_MS, MOST_OF_A_USER
from server.process.server_clock import monotonic_ms
from tests.server.console.browser import browsing, in_a_loop
from tests.server.running import ask, on_each_loop


def site_of(browser):
    return browser.instance.server._sites._made["console"]


def use_clock(browser, now_ms):
    """From now on it is *now_ms* for the console."""
    inner = site_of(browser)._api
    inner._now_ms = inner._sessions._monotonic_ms = lambda: now_ms


@on_each_loop
async def test_without_passwords_there_is_a_session_at_once():
    async with browsing() as browser:
        answer = await browser.api("session")
        assert answer.status == 200
        assert answer.json["user"] == "default"
        assert answer.json["server"]["role"] == "primary"
        assert set(answer.json["server"]) == {"version", "mode", "role", "name"}
        again = await browser.api("session")
        assert (again.json, again.header("set-cookie")) == (answer.json, "")


@in_a_loop
async def test_the_cookie_is_kept_from_scripts_and_other_sites():
    async with browsing() as browser:
        cookie = (await browser.api("session")).header("set-cookie")
        name, *rest = cookie.split("; ")
        assert name.startswith(f"penstock_console_{browser.port}=")
        assert rest == ["Path=/console", "HttpOnly", "SameSite=Strict"]


@in_a_loop
async def test_where_a_password_is_needed_one_has_to_log_in():
    async with browsing(requirepass="secret") as browser:
        answer = await browser.api("session")
        assert (answer.status, answer.json["login"]) == (401, True)
        assert (await browser.post("commands", {"commands": [["PING"]]})).status == 401
        wrong = await browser.log_in("default", "wrong")
        assert (wrong.status, wrong.header("set-cookie")) == (401, "")
        assert (await browser.log_in("default", "secret")).status == 200
        assert await browser.run("PING") == ["PONG"]


@in_a_loop
async def test_a_failed_login_is_in_the_acl_log_and_its_client_is_gone():
    async with browsing(requirepass="secret") as browser:
        await browser.log_in("ann", "guess")
        state = browser.instance.server.state
        (entry,) = state.access.log.newest(10)
        assert (entry.username, entry.object) == (b"ann", b"HELLO")
        assert b" laddr=127.0.0.1:%d " % browser.port in entry.client
        await browser.instance.until(lambda: not state.clients)


@in_a_loop
async def test_passwords_are_not_shown_to_monitors():
    async with browsing(requirepass="secret") as browser:
        streams = await browser.instance.connect()
        await ask(streams, b"AUTH secret\r\nMONITOR\r\n", 10)
        await browser.log_in("default", "secret")
        line = await streams[0].readline()
        assert b'"HELLO" "3" "AUTH" "(redacted)" "(redacted)" "SETNAME" "console"' in line


@in_a_loop
async def test_a_user_logs_in_with_his_own_rights():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("ACL SETUSER ann on >pw ~a:* +get +set +select")
        other = browser.another()
        assert (await other.log_in("ann", "pw")).json["user"] == "ann"
        replies = await other.run("SET a:1 x", "GET b", "DBSIZE")
        assert replies[0] == "OK"
        assert replies[1]["error"].startswith("NOPERM")
        assert replies[2]["error"].startswith("NOPERM")


@in_a_loop
async def test_rights_that_change_count_at_once():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("ACL SETUSER ann on >pw ~* +get")
        other = browser.another()
        await other.log_in("ann", "pw")
        assert await other.run("GET k") == [None]
        await browser.run("ACL SETUSER ann -get")
        assert (await other.run("GET k"))[0]["error"].startswith("NOPERM")


@pytest.mark.parametrize("command", ["ACL DELUSER ann", "CLIENT KILL USER ann"])
@in_a_loop
async def test_a_session_ends_with_its_client(command):
    async with browsing() as browser:
        await browser.begin()
        await browser.run("ACL SETUSER ann on >pw ~* +@all")
        other = browser.another()
        await other.log_in("ann", "pw")
        events = await other.listen()
        await browser.run(command)
        assert await events.next() == ("gone", {})
        assert await events.block() == ""
        assert (await other.post("commands", {"commands": [["PING"]]})).status == 401
        assert (await other.api("live")).status == 401
        assert (await browser.run("PING")) == ["PONG"]


@in_a_loop
async def test_who_kills_his_own_client_has_his_answer_and_no_session():
    async with browsing(requirepass="secret") as browser:
        await browser.log_in("default", "secret")
        (number,) = await browser.run("CLIENT ID")
        replies = await browser.run(f"CLIENT KILL ID {number} SKIPME no", "PING", "PING")
        assert replies[0] == 1
        assert ["not run" in reply["error"] for reply in replies[1:]] == [True, True]
        assert (await browser.api("session")).status == 401


@in_a_loop
async def test_logging_out():
    async with browsing(requirepass="secret") as browser:
        await browser.log_in("default", "secret")
        kept = browser.cookie
        answer = await browser.post("logout", {})
        assert (answer.status, "Max-Age=0" in answer.header("set-cookie")) == (204, True)
        browser.cookie = kept
        assert (await browser.api("session")).status == 401
        assert not browser.instance.server.state.clients


@in_a_loop
async def test_who_logs_in_again_has_another_session_and_the_old_one_ends():
    async with browsing(requirepass="secret") as browser:
        await browser.log_in("default", "secret")
        first = browser.cookie
        await browser.log_in("default", "secret")
        assert browser.cookie != first
        browser.cookie = first
        assert (await browser.api("session")).status == 401


@in_a_loop
async def test_who_fails_to_log_in_as_another_stays_who_he_is():
    async with browsing() as browser:
        await browser.begin()
        assert (await browser.log_in("ann", "guess")).status == 401
        assert await browser.run("ACL WHOAMI") == ["default"]


@in_a_loop
async def test_protected_mode_counts_for_browsers_too(monkeypatch):
    def from_afar(self, request):
        return LocalClient(self._dispatcher, self._clients, "192.0.2.7:5000", request.local)

    monkeypatch.setattr(Api, "_client_of", from_afar)
    async with browsing() as browser:
        answer = await browser.api("session")
        assert (answer.status, answer.header("set-cookie")) == (403, "")
        assert answer.json["error"].startswith("DENIED")
        assert browser.instance.server.state.clients == {}


@in_a_loop
async def test_a_client_that_is_killed_before_its_session_begins_has_none(monkeypatch):
    """The session had a client that answered nothing any more: its requests hung."""
    answered = Runner.answered

    def killed(self, reply):
        answered(self, reply)
        self.client.abort()

    async with browsing() as browser:
        with monkeypatch.context() as patch:
            patch.setattr(Runner, "answered", killed)
            answer = await browser.api("session")
            assert (answer.status, answer.header("set-cookie")) == (503, "")
        assert len(site_of(browser)._api._sessions) == 0
        await browser.begin()
        assert await browser.run("PING") == ["PONG"]


@in_a_loop
async def test_a_request_without_commands_to_a_client_that_is_turned_away(monkeypatch):
    async with browsing(maxclients=2) as browser:
        await browser.begin()
        await browser.run("CLIENT PAUSE 100000 WRITE")
        other = await browser.instance.connect()
        await ask(other, b"PING\r\n", 7)
        waiting = asyncio.create_task(browser.run("SET k v"))
        state = browser.instance.server.state
        await browser.instance.until(lambda: any(c.postponed for c in state.clients.values()))
        assert await browser.run() == []
        (refused,) = await browser.run("PING")
        assert "max number of clients" in refused["error"]
        await ask(other, b"CLIENT UNPAUSE\r\n", 5)
        assert await waiting == ["OK"]


@in_a_loop
async def test_what_changes_something_needs_the_csrf_token():
    async with browsing() as browser:
        await browser.begin()
        for path in ("commands", "watch", "logout"):
            for token in ("", "x", browser.csrf[:-1], browser.csrf + "é"):
                answer = await browser.post(path, {"commands": []}, x_csrf_token=token)
                assert answer.status == 403, (path, token)
        assert (await browser.post("commands", {"commands": []})).status == 200


@in_a_loop
async def test_the_token_of_another_session_does_not_do():
    async with browsing() as browser:
        await browser.begin()
        other = await browser.another().begin()
        answer = await browser.post("commands", {"commands": []}, x_csrf_token=other.csrf)
        assert answer.status == 403


@in_a_loop
async def test_guessed_and_broken_cookies_are_no_session():
    async with browsing(requirepass="secret") as browser:
        await browser.log_in("default", "secret")
        name, _, secret = browser.cookie.partition("=")
        for cookie in ("", name, f"{name}=", f"{name}={secret[:-1]}", f"{name}_x={secret}",
                       f"{name}=é; ;=;;", secret):  # fmt: skip
            assert (
                await browser.api("session", cookie=cookie.encode().decode("latin-1"))
            ).status == 401
        assert (await browser.api("session", cookie=f"a=b; {name}={secret}; c=d")).status == 200


@in_a_loop
async def test_another_page_and_another_host_are_refused():
    async with browsing() as browser:
        await browser.begin()
        ping = {"commands": [["PING"]]}
        assert (await browser.post("commands", ping, origin="http://evil.example")).status == 403
        assert (await browser.post("commands", ping, host="evil.example")).status == 403
        assert (await browser.post("commands", ping, sec_fetch_site="same-site")).status == 403
        own = f"http://localhost:{browser.port}"
        assert (await browser.post("commands", ping, origin=own)).status == 200


@in_a_loop
async def test_who_guesses_has_to_wait():
    async with browsing(requirepass="secret") as browser:
        for _ in range(FREE):
            assert (await browser.log_in("default", "wrong")).status == 401
        answer = await browser.log_in("default", "secret")
        assert answer.status == 429
        assert 0 < answer.json["retry_after_ms"] <= 1000
        assert answer.header("retry-after") == "1"
        use_clock(browser, 10**15)
        assert (await browser.log_in("default", "secret")).status == 200


@pytest.mark.parametrize(("later_ms", "status"), [(IDLE_MS, 200), (IDLE_MS + 1, 401)])
@in_a_loop
async def test_a_session_that_nobody_uses_ends(later_ms, status):
    async with browsing(requirepass="secret", hz=1) as browser:
        await browser.api("session")
        use_clock(browser, 0)
        await browser.log_in("default", "secret")
        use_clock(browser, later_ms)
        assert (await browser.api("session")).status == status


@in_a_loop
async def test_a_session_ends_after_a_day_however_much_it_is_used():
    async with browsing(requirepass="secret", hz=1) as browser:
        await browser.api("session")
        use_clock(browser, 0)
        await browser.log_in("default", "secret")
        for now_ms in range(0, LONGEST_MS + 1, IDLE_MS):
            use_clock(browser, now_ms)
            assert (await browser.api("session")).status == 200
        use_clock(browser, LONGEST_MS + 1)
        assert (await browser.api("session")).status == 401


@in_a_loop
async def test_a_session_that_looks_at_a_live_stream_is_in_use():
    async with browsing(requirepass="secret", hz=1) as browser:
        await browser.log_in("default", "secret")
        await browser.listen()
        use_clock(browser, monotonic_ms() + 2 * IDLE_MS)
        assert (await browser.api("session")).status == 200


@in_a_loop
async def test_a_user_with_many_sessions_pushes_out_his_own(monkeypatch):
    async with browsing() as browser:
        await browser.begin()
        await browser.run("ACL SETUSER ann on >pw ~* +@all")
        ann = browser.another()
        await ann.log_in("ann", "pw")
        others = [await browser.another().begin() for _ in range(MOST_OF_A_USER)]
        assert (await browser.post("commands", {"commands": [["PING"]]})).status == 401
        assert await ann.run("PING") == ["PONG"]
        assert await others[0].run("PING") == ["PONG"]


@in_a_loop
async def test_there_are_not_more_sessions_than_the_limit(monkeypatch):
    monkeypatch.setattr(sessions, "MOST", 2)
    async with browsing() as browser:
        await browser.begin()
        await browser.another().begin()
        answer = await browser.another().api("session")
        assert answer.status == 503
        assert len(browser.instance.server.state.clients) == 2


@in_a_loop
async def test_maxclients_counts_people_at_browsers_too():
    async with browsing(maxclients=1) as browser:
        await browser.begin()
        answer = await browser.another().api("session")
        assert answer.status == 503
        assert "max number of clients" in answer.json["error"]
        assert (await browser.api("live")).status == 503


@in_a_loop
async def test_without_the_parameter_there_is_nothing():
    async with browsing(console=False) as browser:
        assert (await browser.api("session")).status == 404
        assert (await browser.ask("GET", "/console/")).status == 404
        assert browser.instance.server._sites._made == {}


@in_a_loop
async def test_switching_the_console_off_ends_its_sessions():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        streams = await browser.instance.connect()
        assert await ask(streams, b"CONFIG SET console no\r\n", 5) == b"+OK\r\n"
        assert await events.next() == ("gone", {})
        assert (await browser.api("session")).status == 404
        await browser.instance.until(lambda: len(browser.instance.server.state.clients) == 1)


@in_a_loop
async def test_kinds_sizes_and_methods():
    async with browsing() as browser:
        await browser.begin()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"):
            assert (
                await browser.post("commands", {"commands": []}, content_type=kind)
            ).status == 415
        kind = "Application/JSON; charset=utf-8"
        assert (await browser.post("commands", {"commands": []}, content_type=kind)).status == 200
        assert (await browser.post("commands", b" " * (1024**2 + 1))).status == 413
        assert (await browser.post("login", b" " * 5000)).status == 413
        assert (await browser.post("commands", b"{")).status == 400
        assert (await browser.post("commands", b"[" * 1000_000)).status == 400
        assert (await browser.api("commands")).status == 405
        assert (await browser.post("session", {})).status == 405
        assert (await browser.api("nothing")).status == 404
        assert (await browser.ask("DELETE", "/console/api/login")).status == 405
        assert (await browser.ask("POST", "/console/", b"{}")).status == 405
        assert (await browser.ask("GET", "/consolexyz")).status == 404
        assert (await browser.ask("GET", "/console")).header("location") == "/console/"


@in_a_loop
async def test_every_answer_has_its_headers():
    async with browsing() as browser:
        answers = [
            await browser.api("session"),
            await browser.api("nothing"),
            await browser.post("commands", {"commands": [["PING"]]}),
            await browser.post("commands", {"commands": [["ECHO", "x" * 100_000]]}),
            await browser.post("commands", b"{"),
            await browser.post("commands", {}, origin="http://evil.example"),
        ]
        for answer in answers:
            assert answer.header("cache-control") == "no-store"
            assert answer.header("x-content-type-options") == "nosniff"
            assert "frame-ancestors 'none'" in answer.header("content-security-policy")


@in_a_loop
async def test_no_header_can_be_forged_by_what_is_sent():
    async with browsing() as browser:
        answer = await browser.api("session", host=f"localhost:{browser.port}", x="a\tb")
        assert answer.status == 200
        bad = await browser.ask("GET", "/console/x%0d%0aset-cookie:a=b")
        assert (bad.status, bad.header("set-cookie")) == (404, "")
        wrong = await browser.post(
            "login", {"username": "a\r\nset-cookie: b=c", "password": "\r\n"}
        )
        assert wrong.status in {200, 401}
        assert "b=c" not in json.dumps(wrong.headers)
