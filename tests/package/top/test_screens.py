"""The screens, as a user sees them: each view, and what happens when the server goes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import redis

from penstock.testing import PenstockServer
from penstock.top.screens.grids import BoardGrid
from tests.package.top.conftest import Screen, running, screen_of
from tests.ports import free_port

pytestmark = pytest.mark.asyncio

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def queue(server: PenstockServer) -> PenstockServer:
    """Orders, of which three are under way, two are dead, one comes later; and a calm stream."""
    server.freeze()
    server.call("XGROUP", "CREATE", "orders", "ship", "0", "MKSTREAM")
    policy = "VISIBILITY 1000 DEADLETTER orders:dead MKSTREAM"
    server.call("XGROUP", "CFGSET", "orders", "ship", *policy.split())
    for number in range(10):
        server.call("XADD", "orders", f"1-{number + 1}", "item", f"tea-{number}")
    server.call("XADD", "orders", "2-0", "item", "milk", "traceparent", f"00-{TRACE}-{'b' * 16}-01")
    server.call("XREADGROUP", "GROUP", "ship", "w1", "COUNT", "5", "STREAMS", "orders", ">")
    server.call("XNACK", "orders", "ship", "FATAL", "IDS", "2", "1-4", "1-5", "REASON", "broken")
    server.call("XADD", "orders", "DELAY", "3600000", "*", "item", "later")
    server.call("XGROUP", "CREATE", "orders", "audit", "$")
    server.call("XADD", "calm", "1-1", "a", "b")
    server.travel(seconds=20)
    return server


def line(screen: Screen, word: str) -> str:
    """The first line that has *word*."""
    return next(each for each in screen.text.splitlines() if word in each)


async def test_streams_stand_by_trouble_below_facts_of_the_server(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.shows("Penstock", "primary", "3 streams", "by trouble", "stuck")
        assert line(screen, "orders ").split()[0] == "orders"
        names = [each.split()[0] for each in screen.text.splitlines()[3:6]]
        assert names == ["orders", "calm", "orders:dead"]
        assert "PAUSED" not in screen.text


async def test_from_a_stream_to_its_groups_and_back(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("enter")
        await screen.shows("stream orders", "length 11", "ship", "audit", "scheduled 1")
        await screen.press("escape")
        await screen.shows("3 streams")
        await screen.press("escape")
        await screen.shows("3 streams")


async def test_the_backlog_of_a_group_in_four_parts(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("enter", "enter")
        await screen.shows("pending 3", "not delivered 6", "dead 2", "scheduled 1", "VISIBILITY")
        await screen.shows("1-1", "w1, 20 s, 1 x", "item=tea-0")
        await screen.press("2")
        await screen.shows("1-6", "item=tea-5", "item=milk")
        await screen.press("tab")
        await screen.shows("broken, 1 x", "item=tea-3", "dead-stream=orders")
        await screen.press("4")
        await screen.shows("item=later", "in ")


async def test_an_entry_with_its_trace_and_its_groups(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("enter", "enter", "2")
        await screen.shows("item=milk")
        await screen.press("end", "enter")
        await screen.shows(f"trace {TRACE}", f"span {'b' * 16}", "sampled", "item  milk")
        await screen.shows("ship: not delivered yet", "audit: delivered and acknowledged")


async def test_a_pending_entry_says_who_has_it(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("enter", "enter")
        await screen.shows("item=tea-0")
        await screen.press("enter")
        await screen.shows("ship: pending: w1", "delivered 1 times", "1970-01-01")


async def test_all_groups_in_one_table(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("g")
        await screen.shows("2 groups", "ship", "audit")
        await screen.press("enter")
        await screen.shows("group ship", "pending 3")


async def test_a_filter_and_other_orders(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("slash")
        await screen.type("DEAD")
        await screen.shows("1 streams", "filter: DEAD", "orders:dead")
        await screen.press("slash")
        await screen.type("")
        await screen.shows("3 streams")
        await screen.press("s")
        await screen.shows("by stream")
        assert screen.text.splitlines()[3].startswith("calm")
        await screen.press("r")
        await screen.shows("by stream, reversed")
        assert screen.text.splitlines()[3].startswith("orders:dead")
        await screen.press("S")
        await screen.shows("by trouble")


async def test_another_database_is_looked_at(queue: PenstockServer) -> None:
    with redis.Redis(host=queue.host, port=queue.port, db=4) as client:
        client.xadd("elsewhere", {"a": 1})
    async with screen_of(queue.port) as screen:
        await screen.press("d")
        await screen.type("4")
        await screen.shows("db 4", "elsewhere", "1 streams")
        await screen.press("d")
        await screen.type("x")
        await screen.shows("'x' is no number of a database")


async def test_figures_are_live_until_they_are_paused(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        queue.call("XADD", "calm", "1-2", "a", "b")
        await screen.until(lambda: "2" in line(screen, "calm").split(), "the new length")
        await screen.press("space")
        await screen.shows("PAUSED")
        looks = screen.app.watch_feed.feed.figures.looks
        await screen.press("down", "up", "plus", "minus")
        assert screen.app.watch_feed.feed.figures.looks == looks
        await screen.press("space")
        await screen.until(lambda: screen.app.watch_feed.feed.figures.looks > looks, "another look")
        await screen.shows_not("PAUSED")


async def test_the_interval_is_changed_within_bounds(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("plus", "plus")
        await screen.shows("every 1 s")
        await screen.press(*["minus"] * 10)
        await screen.shows("every 0.25 s")


async def test_help_lists_keys_and_reasons(redis_port: int) -> None:
    with redis.Redis(port=redis_port) as client:
        client.xadd("s", {"a": 1})
        client.xgroup_create("s", "g", "0")
    async with screen_of(redis_port) as screen:
        await screen.press("g", "question_mark")
        await screen.shows("pause/resume  (Redis 7.0", "has no XGROUP PAUSE)", "has no XREDRIVE)")
        assert line(screen, "m  move").rstrip(" │").endswith("move")
        await screen.press("escape")
        await screen.shows("1 groups")


async def test_the_cursor_stays_on_its_stream(queue: PenstockServer) -> None:
    def at_cursor() -> str:
        row = screen.app.screen.query_one(BoardGrid).cursor
        assert row is not None
        return row.name

    async with screen_of(queue.port) as screen:
        await screen.press("down")
        assert at_cursor() == "calm"
        for name in ("aaa", "bbb"):
            queue.call("XGROUP", "CREATE", name, "g", "0", "MKSTREAM")
            queue.call("XADD", name, "*", "a", "b")
        await screen.shows("5 streams")
        assert at_cursor() == "calm"
        await screen.press("home")
        assert at_cursor() == "orders"
        await screen.press("end", "pagedown", "down")
        assert at_cursor() == "orders:dead"


async def test_a_click_chooses_and_a_second_one_opens(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.shows("orders:dead")
        await screen.click("#streams", (2, 2), times=2)
        await screen.shows("stream calm")


async def test_names_do_nothing_to_a_terminal(server: PenstockServer) -> None:
    server.call("XADD", b"\x1b[2J[bold]", "1-1", b"\x1b]0;", "[red]")
    server.call("XGROUP", "CREATE", b"\x1b[2J[bold]", b"\x1bc", "0")
    async with screen_of(server.port) as screen:
        await screen.shows("\\x1b[2J[bold]")
        await screen.press("enter", "enter", "2")
        await screen.shows("\\x1bc", "\\x1b]0;=[red]")
        await screen.press("enter")
        await screen.shows("\\x1b]0;  [red]")
        assert "\x1b" not in screen.text


async def test_what_a_user_may_not_is_said_once(redis_port: int) -> None:
    with redis.Redis(port=redis_port) as client:
        rules = ("reset", "on", ">secret", "~*", "+scan", "+xinfo", "+command")
        client.execute_command("ACL", "SETUSER", "few", *rules)
        client.xadd("s", {"a": 1})
        client.xadd("t", {"a": 1})
        client.xgroup_create("s", "g", "0")
    async with screen_of(redis_port, username="few", password="secret") as screen:
        await screen.shows("no answer yet", "2 streams", "'info'", "'memory|usage'")
        assert screen.text.count("'memory|usage'") == 1
        await screen.press("g", "enter", "2")
        await screen.until(lambda: "'xrange'" in line(screen, "xrange"), "in its place")
        assert screen.text.count("'xrange'") == 1


async def test_the_server_goes_and_comes_back(tmp_path: Path) -> None:
    port = free_port()
    with running(port, tmp_path) as client:
        client.xadd("first", {"a": "b"})
        async with screen_of(port) as screen:
            await screen.shows("first")
            client.shutdown(nosave=True)
            await screen.shows("no server: ", "trying again", "first")
            with running(port, tmp_path) as again:
                again.xadd("second", {"a": "b"})
                await screen.shows("second")
                await screen.shows_not("no server")


async def test_no_server_at_the_start_is_said(tmp_path: Path) -> None:
    port = free_port()
    async with screen_of(port, waits=False) as screen:
        await screen.shows("no answer yet", "no server: ")
        with running(port, tmp_path) as client:
            client.xadd("first", {"a": "b"})
            await screen.shows("Penstock", "first")


async def test_it_ends_with_q(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("q")
        await screen.until(lambda: not screen.app.is_running, "the end")
        assert screen.app.return_code == 0


FONTS = re.compile(
    r"@font-face \{.*?\}\s*", re.DOTALL
)  # from elsewhere: a page of ours fetches nothing
PICTURE = "PENSTOCK_TOP_PICTURE"  # the file that shall become the picture in the docs


@pytest.mark.skipif(PICTURE not in os.environ, reason=f"{PICTURE} names no file")
async def test_the_picture_of_the_docs(server: PenstockServer) -> None:
    """PENSTOCK_TOP_PICTURE=docs/images/top.svg makes it anew."""
    streams = ("mails", "orders", "orders:dead", "payments", "readings:hall", "readings:roof")
    groups = (("mails", "workers"), ("orders", "audit"), ("orders", "ship"), ("payments", "book"))
    for stream, group in groups:
        server.call("XGROUP", "CREATE", stream, group, "0", "MKSTREAM")
    policy = "VISIBILITY 30000 DEADLETTER orders:dead MKSTREAM"
    server.call("XGROUP", "CFGSET", "orders", "ship", *policy.split())
    server.call("XADD", "mails", "DELAY", "3600000", "*", "to", "ann")

    def add(times: int) -> None:
        for at, stream in enumerate(streams):
            if stream != "orders:dead":
                for number in range(times * (at + 1) * 3):
                    server.call("XADD", stream, "*", "item", number)

    add(20)
    for stream, group, count in (("orders", "ship", 40), ("orders", "audit", 118)):
        server.call("XREADGROUP", "GROUP", group, "w1", "COUNT", count, "STREAMS", stream, ">")
    entries = server.call("XPENDING", "orders", "ship", "-", "+", 3)
    ids = [entry[0] for entry in entries]
    server.call("XNACK", "orders", "ship", "FATAL", "IDS", len(ids), *ids)
    for stream, group in (("orders", "audit"), ("mails", "workers")):
        server.call("XREADGROUP", "GROUP", group, "w1", "NOACK", "STREAMS", stream, ">")
    server.call("XGROUP", "PAUSE", "payments", "book")
    server.travel(seconds=95)
    async with screen_of(server.port, size=(150, 18)) as screen:
        for times in (1, 3, 2, 0, 1, 2, 4, 3, 1, 0, 2, 1):
            looks = screen.app.watch_feed.feed.figures.looks
            add(times)
            await screen.looks_after(looks)
        picture = screen.app.export_screenshot(title="penstock top")
    with open(os.environ[PICTURE], "w") as file:  # noqa: ASYNC230  (nobody waits for this loop)
        file.write(FONTS.sub("", picture))
