"""Commands over the API: as a client's own, their answers, what is refused, what is too long."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode

import pytest

from server.console import batch, local_client
from server.console.refusals import REASONS
from server.console.runner import MOST_WAITING
from server.parts.persistence.files import Files
from server.table.command import TABLE
from tests.server.console.browser import browsing, in_a_loop
from tests.server.running import ask, on_each_loop


@on_each_loop
async def test_commands_are_run_one_after_another():
    async with browsing() as browser:
        await browser.begin()
        replies = await browser.run("SET k 1", "INCR k", "GET k", "LPUSH k x", "KEYS *")
        assert replies[:3] == ["OK", 2, "2"]
        assert replies[3]["error"].startswith("WRONGTYPE")
        assert replies[4] == ["k"]


@in_a_loop
async def test_no_commands_have_no_replies():
    async with browsing() as browser:
        await browser.begin()
        assert await browser.run() == []
        assert await browser.run(transaction=True) == []


@in_a_loop
async def test_words_and_replies_may_be_any_bytes():
    async with browsing() as browser:
        await browser.begin()
        word = {"base64": b64encode(b"\xff\r\n\0").decode()}
        assert await browser.run(["SET", word, word], ["GET", word], ["ECHO", "a\r\n+OK\r\n"]) == [
            "OK", word, "a\r\n+OK\r\n",
        ]  # fmt: skip


@in_a_loop
async def test_a_person_is_a_client_like_any_other():
    async with browsing(slowlog_log_slower_than=0) as browser:
        await browser.begin()
        monitor = await browser.instance.connect()
        await ask(monitor, b"MONITOR\r\n", 5)
        (line,) = await browser.run("CLIENT INFO")
        fields = dict(field.split("=", 1) for field in line.split())
        assert (fields["name"], fields["user"], fields["resp"]) == ("console", "default", "3")
        assert fields["addr"].startswith("127.0.0.1:")
        assert fields["laddr"] == f"127.0.0.1:{browser.port}"
        assert b'"CLIENT" "INFO"' in await monitor[0].readline()
        (slow,) = await browser.run("SLOWLOG GET 1")
        assert (slow[0][3], slow[0][5]) == (["CLIENT", "INFO"], "console")


@in_a_loop
async def test_a_database_is_chosen_for_each_request():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("SET k in-1", db=1)
        await browser.run("SET k in-0", "SELECT 5")
        assert await browser.run("GET k", db=1) == ["in-1"]
        assert await browser.run("GET k") == ["in-0"]
        (error,) = await browser.run("GET k", db=99)
        assert "DB index is out of range" in error["error"]


@in_a_loop
async def test_who_may_not_select_gets_that_error_for_each_command():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("ACL SETUSER ann on >pw ~* +get")
        ann = browser.another()
        await ann.log_in("ann", "pw")
        replies = await ann.run("GET a", "GET b", db=1)
        assert [reply["error"][:6] for reply in replies] == ["NOPERM"] * 2
        assert await ann.run("GET a") == [None]


@in_a_loop
async def test_a_transaction_is_run_as_one():
    async with browsing() as browser:
        await browser.begin()
        commands = ["SET k 1", "INCR k", "LPUSH k x", "HSET h f v", "HGETALL h"]
        replies = await browser.run(*commands, transaction=True)
        assert replies[:2] == ["OK", 2]
        assert replies[2]["error"].startswith("WRONGTYPE")
        assert replies[3:] == [1, {"map": [["f", "v"]]}]


@in_a_loop
async def test_a_transaction_with_an_error_runs_nothing():
    async with browsing() as browser:
        await browser.begin()
        replies = await browser.run("SET k 1", "NOSUCH", transaction=True)
        assert replies[0]["error"].startswith("EXECABORT")
        assert replies[1]["error"].startswith("ERR unknown command")
        replies = await browser.run("SET k 1", "MONITOR", transaction=True)
        assert replies[0]["error"].startswith("EXECABORT")
        assert "not run in the console" in replies[1]["error"]
        assert await browser.run("EXISTS k") == [0]


@in_a_loop
async def test_who_may_not_begin_a_transaction_runs_nothing_of_it():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("ACL SETUSER ann on >pw ~* +set")
        ann = browser.another()
        await ann.log_in("ann", "pw")
        (reply,) = await ann.run("SET k 1", transaction=True)
        assert reply["error"].startswith("NOPERM")
        assert await browser.run("EXISTS k") == [0]


def test_all_that_is_refused_is_a_command():
    assert [name for name in REASONS if TABLE.named(name.encode()) is None] == []


@in_a_loop
async def test_what_would_change_the_connection_is_refused():
    async with browsing() as browser:
        await browser.begin()
        lines = [name.replace("|", " ") for name in REASONS]
        replies = await browser.run(*lines, *(line.upper() for line in lines))
        assert all("is not run in the console: " in reply["error"] for reply in replies)
        assert await browser.run("PING") == ["PONG"]


@in_a_loop
async def test_who_types_what_web_pages_send_keeps_his_session():
    async with browsing() as browser:
        await browser.begin()
        replies = await browser.run("POST / HTTP/1.1", "Host: localhost", "PING")
        assert replies[0]["error"] == "ERR unknown command 'POST'"
        assert replies[1]["error"] == "ERR unknown command 'Host:'"
        assert replies[2] == "PONG"


@in_a_loop
async def test_a_refused_command_is_known_by_its_other_name():
    async with browsing(renamed_commands=[(b"monitor", b"watchall")]) as browser:
        await browser.begin()
        (renamed, old) = await browser.run("WATCHALL", "MONITOR")
        assert renamed["error"].startswith("ERR MONITOR is not run in the console")
        assert old["error"].startswith("ERR unknown command")


@pytest.mark.parametrize(
    ("command", "reply"),
    [
        ("BLPOP l 0", None),
        ("XREAD BLOCK 0 STREAMS s $", None),
        ("BLMOVE a b LEFT RIGHT 0", None),
        ("XREAD BLOCK 0 MATCH s* STREAMS $", None),
        ("WAIT 1 0", 0),
        ("BZPOPMIN z 0", None),
    ],
)
@on_each_loop
async def test_no_command_waits(command, reply):
    async with browsing() as browser:
        await browser.begin()
        first, second = await browser.run(command, "PING")
        assert second == "PONG"
        assert first == reply or "error" in first
        assert browser.instance.waiting == 0


@in_a_loop
async def test_a_wait_that_ends_at_once_takes_nothing():
    async with browsing() as browser:
        await browser.begin()
        assert await browser.run("BLPOP l 0", "RPUSH l a", "LLEN l", "BLPOP l 0") == [
            None, 1, 1, ["l", "a"],
        ]  # fmt: skip


async def held(browser, count=1):
    """Wait until so many clients are held back."""
    clients = browser.instance.server.state.clients
    await browser.instance.until(
        lambda: sum(client.postponed is not None for client in clients.values()) == count
    )


@in_a_loop
async def test_a_pause_holds_the_console_like_other_clients():
    async with browsing() as browser:
        await browser.begin()
        streams = await browser.instance.connect()
        await ask(streams, b"CLIENT PAUSE 100000 WRITE\r\n", 5)
        running = asyncio.create_task(browser.run("SET k v", "GET k"))
        await held(browser)
        await ask(streams, b"CLIENT UNPAUSE\r\n", 5)
        assert await running == ["OK", "v"]


@in_a_loop
async def test_who_holds_all_clients_can_let_them_go_again():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("CLIENT PAUSE 100000 WRITE")
        waiting = asyncio.create_task(browser.run("SET k v", "GET k"))
        await held(browser)
        assert await browser.run("GET k", "CLIENT UNPAUSE") == [None, "OK"]
        assert await waiting == ["OK", "v"]


@in_a_loop
async def test_who_runs_a_script_without_end_can_kill_it():
    async with browsing(busy_reply_threshold=1) as browser:
        await browser.begin()
        long = asyncio.create_task(browser.run(["EVAL", "while true do end", "0"]))
        state = browser.instance.server.state
        await browser.instance.until(lambda: state.restrictions.busy is not None)
        busy, ok = await browser.run("GET k", "SCRIPT KILL")
        assert busy["error"].startswith("BUSY")
        assert ok == "OK"
        assert "killed" in (await long)[0]["error"]
        assert len(state.clients) == 2
        await browser.post("logout", {})
        assert state.clients == {}


@in_a_loop
async def test_requests_of_a_session_are_answered_in_order_and_not_without_end():
    async with browsing() as browser:
        await browser.begin()
        streams = await browser.instance.connect()
        await ask(streams, b"CLIENT PAUSE 100000 WRITE\r\n", 5)
        asked = []
        for count in (1, 2):  # one holds the session's client, the other the spare one
            asked.append(asyncio.create_task(browser.run("RPUSH first x")))
            await held(browser, count)
        push = {"commands": [["RPUSH", "l", "x"]]}
        later = [asyncio.create_task(browser.post("commands", push)) for _ in range(MOST_WAITING)]
        done, _ = await asyncio.wait(later, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result().status for task in done] == [429]
        await ask(streams, b"CLIENT UNPAUSE\r\n", 5)
        answers = await asyncio.gather(*later)
        found = sorted(a.json["replies"][0] for a in answers if a.status == 200)
        assert found == list(range(1, MOST_WAITING))
        assert sorted(await asyncio.gather(*asked)) == [[1], [2]]


@in_a_loop
async def test_a_long_answer_comes_in_pieces():
    async with browsing() as browser:
        await browser.begin()
        await browser.run(["SADD", "s", *map(str, range(20_000))])
        answer = await browser.post("commands", {"commands": [["SMEMBERS", "s"], ["PING"]]})
        assert answer.header("transfer-encoding") == "chunked"
        members, pong = answer.json["replies"]
        assert (sorted(map(int, members["set"])), pong) == (list(range(20_000)), "PONG")


@in_a_loop
async def test_ten_thousand_commands_are_one_request():
    async with browsing() as browser:
        await browser.begin()
        assert await browser.run(*["INCR n"] * 10_000) == list(range(1, 10_001))


@in_a_loop
async def test_other_clients_are_served_during_a_long_request():
    async with browsing() as browser:
        await browser.begin()
        streams = await browser.instance.connect()
        long = asyncio.create_task(browser.run(*["INCR n"] * 5000))
        await browser.instance.until(lambda: len(browser.instance.server.state.databases[0]) == 1)
        size = len(await ask(streams, b"STRLEN n\r\n", 4))
        assert (size, long.done()) == (4, False)
        assert (await long)[-1] == 5000


@in_a_loop
async def test_an_answer_beyond_the_limit_is_an_error(monkeypatch):
    monkeypatch.setattr(local_client, "MOST_REPLY", 10_000)
    monkeypatch.setattr(batch, "MOST_REPLY", 10_000)
    async with browsing() as browser:
        await browser.begin()
        await browser.run(["SET", "large", "x" * 20_000], ["SET", "half", "x" * 6000])
        large, pong = await browser.run("GET large", "PING")
        assert "has run, but its answer is longer" in large["error"]
        assert pong == "PONG"
        first, second, third = await browser.run("GET half", "GET half", "SET k v")
        assert first == "x" * 6000
        assert "has run, but" in second["error"]
        assert "not run: the answer would be longer" in third["error"]
        assert await browser.run("EXISTS k") == [0]
        replies = await browser.run("GET large", "SET k v", transaction=True)
        assert ["has run, but its answer" in reply["error"] for reply in replies] == [True, True]


@in_a_loop
async def test_a_reply_that_would_take_all_memory_ends_the_session(monkeypatch):
    monkeypatch.setattr(local_client, "MOST_OUTPUT", 100_000)
    async with browsing(requirepass="secret") as browser:
        await browser.log_in("default", "secret")
        await browser.run(["SET", "large", "x" * 60_000])
        (reply,) = await browser.run(["MGET", *["large"] * 100])
        assert "session has ended" in reply["error"]
        assert (await browser.api("session")).status == 401


@in_a_loop
async def test_output_that_waits_is_counted_as_the_clients():
    async with browsing() as browser:
        await browser.begin()
        await browser.run(["SET", "k", "x" * 5000])
        _, line = await browser.run("GET k", "CLIENT INFO")
        assert int(line.partition("omem=")[2].split()[0]) > 5000
        (line,) = await browser.run("CLIENT INFO")
        assert int(line.partition("omem=")[2].split()[0]) < 100


@pytest.mark.parametrize("step", ["write", "sync"])
@on_each_loop
async def test_a_write_that_the_disk_refused_is_not_answered_with_ok(tmp_path, monkeypatch, step):
    monkeypatch.chdir(tmp_path)
    async with browsing(appendonly=True, appendfsync="always") as browser:
        await browser.begin()
        assert await browser.run("SET k old") == ["OK"]

        def fail(*_args):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as broken:
            broken.setattr(Files, step, fail)
            first, second, third = await browser.run("SET k new", "SET k2 v", "GET k")
            assert "No space left on device" in first["error"]
            assert "not run" in second["error"]
            assert "not run" in third["error"]
            await browser.begin()
            (read,) = await browser.run("GET k")
            assert read["error"].startswith("MISCONF")


@in_a_loop
async def test_a_browser_that_leaves_during_its_request_is_no_fault():
    async with browsing() as browser:
        await browser.begin()
        body = json.dumps({"commands": [["INCR", "n"]] * 3000}).encode()
        head = browser._head("POST", "/console/api/commands", {
            "content-type": "application/json", "content-length": str(len(body)),
            "x-csrf-token": browser.csrf,
        })  # fmt: skip
        _, writer = await asyncio.open_connection("127.0.0.1", browser.port)
        browser.instance._opened.append(writer)
        writer.write(head + body)
        state = browser.instance.server.state
        await browser.instance.until(lambda: len(state.databases[0]) == 1)
        writer.transport.abort()
        assert await browser.run("PING") == ["PONG"]
        assert state.memory.clients < 100_000


@in_a_loop
async def test_a_server_that_stops_ends_the_request():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        first, second = await browser.run("SHUTDOWN NOSAVE", "PING")
        assert "session has ended" in first["error"]
        assert "not run" in second["error"]
        assert await events.next() == ("gone", {})


@in_a_loop
async def test_only_who_is_logged_in_may_send_a_long_body():
    """Hundreds may connect, and what each sends takes memory before anybody asks who he is."""
    async with browsing() as browser:
        stranger = browser.another()
        assert (
            await stranger.post("commands", {"commands": [["SET", "k", "x" * 70_000]]})
        ).status == 413
        await browser.begin()
        assert await browser.run(["SET", "k", "x" * 70_000]) == ["OK"]
