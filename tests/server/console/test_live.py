"""Live streams: what is watched, only what has changed, and browsers that do not read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from server.console import local_client, sessions, stream_sweep, watch
from server.console.live import COMMENT_MS
from server.console.sessions import MOST_LIVE
from server.process.server_clock import monotonic_ms
from tests.server.console.browser import WHOLE, browsing, in_a_loop
from tests.server.console.test_sessions import site_of, use_clock
from tests.server.running import ask, on_each_loop

COUNT = {"name": "count", "commands": [["GET", "n"]]}


def lives_of(browser):
    return [each for session in site_of(browser)._api._sessions for each in session.lives.values()]


def commands_run(browser):
    return sum(client.commands for client in browser.instance.server.state.clients.values())


async def ticks(browser, count=3):
    """Let cron tick so often."""
    inner = site_of(browser)._api
    seen, tick = 0, inner.tick

    def counted():
        nonlocal seen
        seen += 1
        tick()

    inner.tick = counted
    await browser.instance.until(lambda: seen >= count)
    inner.tick = tick


def make_impatient(browser):
    """Have each task be due at each tick, so that what is not sent was not found."""
    inner = site_of(browser)._api
    now_ms = monotonic_ms()

    def clock():
        nonlocal now_ms
        now_ms += 1000
        return now_ms

    inner._now_ms = clock


@on_each_loop
async def test_a_change_is_told():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        assert (await browser.watch(events, watches=[COUNT])).status == 204
        assert await events.next() == ("watch", {"name": "count", "replies": [None]})
        await browser.run("SET n 1")
        assert await events.next() == ("watch", {"name": "count", "replies": ["1"]})


@in_a_loop
async def test_nothing_is_told_while_nothing_changes():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        make_impatient(browser)
        await browser.watch(events, watches=[COUNT], streams={"match": "*"})
        assert (await events.next())[0] == "watch"
        assert (await events.next())[0] == "streams"
        before = commands_run(browser)
        await browser.instance.until(lambda: commands_run(browser) > before + 20)
        await browser.run("SET n 1")
        assert (await events.next())[1]["name"] == "count"


@in_a_loop
async def test_several_commands_and_databases():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("SET n 5", db=3)
        events = await browser.listen()
        both = {"name": "both", "commands": [["GET", "n"], ["NOSUCH"], ["MONITOR"], ["DBSIZE"]]}
        await browser.watch(events, watches=[both], db=3)
        name, told = await events.next()
        assert (name, told["replies"][0], told["replies"][3]) == ("watch", "5", 1)
        assert told["replies"][1]["error"].startswith("ERR unknown command")
        assert "not run in the console" in told["replies"][2]["error"]
        await browser.watch(events, watches=[COUNT], db=99)
        assert "out of range" in (await events.next())[1]["replies"][0]["error"]


@in_a_loop
async def test_what_was_watched_before_is_not():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        await browser.watch(events, watches=[COUNT])
        await events.next()
        await browser.watch(events, watches=[{"name": "size", "commands": [["DBSIZE"]]}])
        assert await events.next() == ("watch", {"name": "size", "replies": [0]})
        await browser.run("SET n 1")
        assert await events.next() == ("watch", {"name": "size", "replies": [1]})


@in_a_loop
async def test_what_is_watched_again_is_not_told_again_unless_it_has_another_name():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        for streams in ({"match": "*"}, {"match": "*"}, {"match": "*", "name": "2"}):
            await browser.watch(events, watches=[COUNT], streams=streams)
            await ticks(browser, 20)
        told = [await events.next() for _ in range(3)]
        assert [name for name, _ in told] == ["watch", "streams", "streams"]
        assert [data.get("name") for _, data in told] == ["count", None, "2"]


@in_a_loop
async def test_while_paused_nothing_is_run():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        make_impatient(browser)
        await browser.watch(events, watches=[COUNT], streams={"match": "*"}, paused=True)
        before = commands_run(browser)
        await ticks(browser, 10)
        assert commands_run(browser) == before
        await browser.watch(events, watches=[COUNT], streams={"match": "*"})
        assert (await events.next())[0] == "watch"


@in_a_loop
async def test_streams_with_their_groups():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("XADD s 1-1 f v", "XADD s 2-1 f v", "XGROUP CREATE s g 0")
        await browser.run("XREADGROUP GROUP g ann COUNT 1 STREAMS s >", "SET other x")
        events = await browser.listen()
        await browser.watch(events, streams={"match": "*"})
        name, told = await events.next()
        assert (name, told["db"], told["gone"], told["complete"]) == ("streams", 0, [], True)
        (row,) = told["rows"]
        assert (row["key"], row["length"], row["pending"], row["lag"]) == ("s", 2, 1, 1)
        assert (row["group-list"][0]["name"], row["group-list"][0]["consumers"]) == ("g", 1)
        assert isinstance(row["oldest-pending-ms"], int)


@in_a_loop
async def test_a_stream_with_groups_without_end_hides_no_other(monkeypatch):
    """It is told of without them. Whoever may make groups made all streams vanish."""
    monkeypatch.setattr(local_client, "MOST_REPLY", 4000)
    async with browsing() as browser:
        await browser.begin()
        await browser.run(*[f"XADD s{number} 1-1 f v" for number in range(5)])
        await browser.run(*[f"XGROUP CREATE s1 g{number} 0" for number in range(100)])
        await browser.run("XGROUP CREATE s2 g 0")
        events = await browser.listen()
        await browser.watch(events, streams={"match": "*"})
        rows: dict[str, Any] = {}
        is_complete = False
        while not is_complete:
            _, told = await events.next()
            assert "error" not in told
            rows |= {row["key"]: row for row in told["rows"]}
            is_complete = told["complete"]
        assert set(rows) == {f"s{number}" for number in range(5)}
        assert rows["s1"]["groups"] == 100
        assert [group["name"] for group in rows["s2"]["group-list"]] == ["g"]


@pytest.mark.parametrize("event_ns", [0, WHOLE])
@in_a_loop
async def test_only_rows_that_have_changed_are_told(monkeypatch, event_ns):
    monkeypatch.setattr(stream_sweep, "EVENT_NS", event_ns)
    async with browsing() as browser:
        await browser.begin()
        await browser.run(*[f"XADD s{number} 1-1 f v" for number in range(100)])
        await browser.run("XGROUP CREATE s5 g 0", "XREADGROUP GROUP g ann STREAMS s5 >")
        events = await browser.listen()
        await browser.watch(events, streams={"match": "*"})
        rows: dict[str, Any] = {}
        is_complete = False
        while not is_complete:
            _, told = await events.next()
            rows |= {row["key"]: row for row in told["rows"]}
            is_complete = told["complete"]
        assert set(rows) == {f"s{number}" for number in range(100)}
        await browser.run("XADD s7 2-1 f v", "DEL s9", "SET s9 string")
        gone: list[str] = []
        changed: list[str] = []
        while not gone:
            _, told = await events.next()
            changed += [row["key"] for row in told["rows"]]
            gone += told["gone"]
        assert (changed, gone) == (["s7"], ["s9"])


@in_a_loop
async def test_a_name_that_is_no_text():
    async with browsing() as browser:
        await browser.begin()
        key = {"base64": "/w=="}
        await browser.run(["XADD", key, "1-1", "f", "v"])
        events = await browser.listen()
        await browser.watch(events, streams={"match": key})
        assert (await events.next())[1]["rows"][0]["key"] == key
        await browser.run(["DEL", key])
        assert (await events.next())[1]["gone"] == [key]


@in_a_loop
async def test_no_streams_are_told_too():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        await browser.watch(events, streams={"match": "a*"})
        name, told = await events.next()
        assert (name, told["rows"], told["complete"]) == ("streams", [], True)


@in_a_loop
async def test_a_user_sees_the_streams_that_he_may_read():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("XADD a:1 1-1 f v", "XADD b:1 1-1 f v")
        await browser.run("ACL SETUSER ann on >pw ~a:* +xinfo +get")
        ann = browser.another()
        await ann.log_in("ann", "pw")
        events = await ann.listen()
        await ann.watch(events, watches=[{"name": "n", "commands": [["GET", "b"]]}], streams={})
        told = dict([await events.next(), await events.next()])
        assert told["watch"]["replies"][0]["error"].startswith("NOPERM")
        assert [row["key"] for row in told["streams"]["rows"]] == ["a:1"]
        await browser.run("ACL SETUSER ann resetkeys ~b:* -get")
        told = dict([await events.next(), await events.next()])
        assert told["watch"]["replies"][0]["error"].startswith("NOPERM")
        assert (told["streams"]["rows"][0]["key"], told["streams"]["gone"]) == ("b:1", ["a:1"])


@in_a_loop
async def test_who_may_not_see_streams_is_told_so():
    async with browsing() as browser:
        await browser.begin()
        await browser.run("ACL SETUSER ann on >pw ~* +get")
        ann = browser.another()
        await ann.log_in("ann", "pw")
        events = await ann.listen()
        await ann.watch(events, streams={"match": "*"})
        _, told = await events.next()
        assert (told["rows"], told["complete"]) == ([], False)
        assert told["error"].startswith("NOPERM")
        await browser.run("ACL SETUSER ann +xinfo")
        _, told = await events.next()
        assert ("error" in told, told["complete"]) == (False, True)


@in_a_loop
async def test_the_client_of_a_live_stream_has_a_name_and_the_browsers_address():
    async with browsing() as browser:
        await browser.begin()
        await browser.listen()
        (text,) = await browser.run("CLIENT LIST")
        assert len([line for line in text.splitlines() if " name=console " in line]) == 2
        assert len({line.split()[1] for line in text.splitlines()}) == 2


@in_a_loop
async def test_killing_the_client_of_a_live_stream_ends_that_alone():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        (own,) = await browser.run("CLIENT ID")
        other = next(n for n in browser.instance.server.state.clients if n != own)
        await browser.run(f"CLIENT KILL ID {other}")
        assert await events.next() == ("gone", {})
        assert await browser.run("PING") == ["PONG"]
        assert (await browser.watch(events, watches=[])).status == 404


@in_a_loop
async def test_who_only_looks_is_not_idle():
    """`timeout` would end his session during a pause."""
    async with browsing() as browser:
        await browser.begin()
        await browser.listen()
        clients = list(browser.instance.server.state.clients.values())
        assert len(clients) == 2
        for client in clients:
            client.last_used_ms = 0
        await ticks(browser)
        assert all(client.last_used_ms for client in clients)


@in_a_loop
async def test_what_is_watched_is_not_in_use_because_of_that():
    async with browsing() as browser:
        await browser.begin()
        await browser.listen()
        clients = browser.instance.server.state.clients.values()
        assert [client.no_touch for client in clients] == [False, True]


@in_a_loop
async def test_a_browser_that_leaves_leaves_nothing_behind():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        await browser.watch(events, watches=[COUNT], streams={})
        events.close()
        await browser.instance.until(lambda: len(browser.instance.server.state.clients) == 1)
        assert lives_of(browser) == []


@in_a_loop
async def test_nobody_watches_by_the_stream_of_another_session():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        other = await browser.another().begin()
        assert (await other.watch(events, watches=[COUNT])).status == 404
        assert (await browser.post("watch", {"live": "", "watches": []})).status == 404


@in_a_loop
async def test_live_streams_are_bounded(monkeypatch):
    async with browsing() as browser:
        await browser.begin()
        for _ in range(MOST_LIVE):
            await browser.listen()
        assert (await browser.api("live")).status == 429
        monkeypatch.setattr(sessions, "MOST_LIVE_OF_ALL", MOST_LIVE)
        other = await browser.another().begin()
        assert (await other.api("live")).status == 429
        assert len(browser.instance.server.state.clients) == MOST_LIVE + 2


@in_a_loop
async def test_a_comment_keeps_proxies_from_closing():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        use_clock(browser, monotonic_ms() + COMMENT_MS)
        assert await events.block() == ":"


@in_a_loop
async def test_a_long_reply_of_a_watch_is_an_error(monkeypatch):
    monkeypatch.setattr(watch, "MOST_BYTES", 1000)
    async with browsing() as browser:
        await browser.begin()
        await browser.run(["SET", "n", "x" * 2000])
        events = await browser.listen()
        await browser.watch(events, watches=[COUNT])
        assert "longer than a watch may have" in (await events.next())[1]["replies"][0]["error"]


@in_a_loop
async def test_more_streams_than_are_followed_are_told_of(monkeypatch):
    monkeypatch.setattr(stream_sweep, "MOST_STREAMS", 5)
    async with browsing() as browser:
        await browser.begin()
        await browser.run(*[f"XADD s{number} 1-1 f v" for number in range(10)])
        events = await browser.listen()
        await browser.watch(events, streams={"match": "*"})
        _, told = await events.next()
        assert (len(told["rows"]), told["most"]) == (5, 5)


@pytest.mark.parametrize(("limit", "most"), [("MOST_UNSENT", 50), ("MOST_UNSENT_BYTES", 25_000)])
@in_a_loop
async def test_a_browser_that_takes_nothing_has_nothing_queued(monkeypatch, limit, most):
    monkeypatch.setattr(stream_sweep, limit, most)
    async with browsing() as browser:
        await browser.begin()
        names = [f"s{number}:{'x' * 200}" for number in range(2000)]
        await browser.run(*[f"XADD {name} 1-1 f v" for name in names])
        events = await browser.listen()
        (stream,) = lives_of(browser)
        stream._exchange.pause_writing()  # the socket is full
        await browser.watch(events, watches=[COUNT], streams={"match": "*"})
        (task, sweep) = stream._tasks
        await browser.instance.until(lambda: len(sweep._rows) >= 25)
        await browser.run("SET n 1")
        await ticks(browser, 20)
        found = len(sweep._rows)
        await ticks(browser, 20)
        assert len(sweep._rows) == found < 500
        assert (sweep.has_news, task.has_news) == (True, True)
        stream._exchange.resume_writing()
        keys, is_complete = [], False
        while not is_complete:
            name, told = await events.next()
            if name == "streams":
                keys += [row["key"] for row in told["rows"]]
                is_complete = told["complete"]
        assert sorted(keys) == sorted(names)


@in_a_loop
async def test_an_event_that_is_being_sent_is_ended_before_the_stream_is():
    """Half of its data was followed by the event gone, in one line."""
    async with browsing() as browser:
        await browser.begin()
        await browser.run(["RPUSH", "n", *["x" * 100] * 2000])
        events = await browser.listen()
        long = {"name": "long", "commands": [["LRANGE", "n", "0", "-1"]]}
        (stream,) = lives_of(browser)
        stream._exchange.pause_writing()
        await browser.watch(events, watches=[long])
        await browser.instance.until(stream._has_news)
        first = stream.more()
        stream.end()
        rest = []
        while (piece := stream.more()) is not None:
            rest.append(piece)
        text = (first + b"".join(rest)).decode()
        watched, gone, nothing = text.split("\n\n")
        assert len(json.loads(watched.partition("data: ")[2])["replies"][0]) == 2000
        assert (gone, nothing) == ("event: gone\ndata: {}", "")


@in_a_loop
async def test_what_costs_much_comes_more_rarely():
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        await browser.watch(events, watches=[COUNT], every_ms=100)
        await events.next()
        ((task,),) = [each._tasks for each in lives_of(browser)]
        task.begin(1000)
        task.cost_ns = 50_000_000
        task.done()
        assert task._due_ms == 1000 + 50 * 20
        task.begin(1000)
        task.cost_ns = 1_000_000
        task.done()
        assert task._due_ms == 1000 + 100


@in_a_loop
async def test_other_clients_are_served_during_a_sweep():
    async with browsing() as browser:
        await browser.begin()
        await browser.run(*[f"XADD s{number} 1-1 f v" for number in range(3000)])
        streams = await browser.instance.connect()
        events = await browser.listen()
        await browser.watch(events, streams={"match": "*"})
        (sweep,) = lives_of(browser)[0]._tasks
        await browser.instance.until(lambda: sweep._is_on)
        assert await ask(streams, b"PING\r\n", 7) == b"+PONG\r\n"
        assert sweep._is_on
        rows = 0
        while rows < 3000:
            rows += len((await events.next())[1]["rows"])


@in_a_loop
async def test_a_fault_in_a_task_ends_its_stream_alone(monkeypatch):
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        monkeypatch.setattr(watch.Watch, "_found", lambda *_: 1 // 0)
        await browser.watch(events, watches=[COUNT])
        assert await events.next() == ("gone", {})
        assert await browser.run("PING") == ["PONG"]


@in_a_loop
async def test_a_push_of_others_is_no_reply():
    """Another client may have its invalidations sent to any client, so to the console's, too."""
    async with browsing() as browser:
        await browser.begin()
        (own,) = await browser.run("CLIENT ID")
        other = await browser.instance.connect()
        await ask(other, b"CLIENT TRACKING ON REDIRECT %d\r\n" % own, 5)
        await ask(other, b"GET k\r\n", 5)
        assert await browser.run("SET k v", "GET k", "SET k w", "PING") == ["OK", "v", "OK", "PONG"]


@pytest.mark.parametrize("name", ["a\nb", "data: x", '"', "\u2028"])
@in_a_loop
async def test_a_name_of_a_watch_breaks_no_event(name):
    async with browsing() as browser:
        await browser.begin()
        events = await browser.listen()
        await browser.watch(events, watches=[{**COUNT, "name": name}])
        assert await events.next() == ("watch", {"name": name, "replies": [None]})
