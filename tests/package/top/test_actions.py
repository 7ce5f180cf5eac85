"""The actions: each says what happens, does it after a yes, and nothing after a no."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from penstock.testing import PenstockServer
from tests.package.top.conftest import Screen, screen_of

pytestmark = pytest.mark.asyncio


@pytest.fixture
def port(either_port: int) -> int:
    """Of a Penstock or a Redis, with ten entries of which three are under way."""
    with redis.Redis(port=either_port, decode_responses=True) as client:
        for number in range(10):
            client.xadd("orders", {"item": f"tea-{number}"}, id=f"1-{number + 1}")
        client.xgroup_create("orders", "ship", "0")
        client.xreadgroup("ship", "w1", {"orders": ">"}, count=3)
    return either_port


def client_of(port: int) -> redis.Redis:
    return redis.Redis(port=port, decode_responses=True, protocol=2)


def pending(port: int) -> dict[str, tuple[str, int]]:
    """Who has what, and how often it was delivered."""
    with client_of(port) as client:
        found: Any = client.xpending_range("orders", "ship", "-", "+", 100)
    return {each["message_id"]: (each["consumer"], each["times_delivered"]) for each in found}


async def open_group(screen: Screen) -> None:
    await screen.press("g", "enter")
    await screen.shows("item=tea-0")


async def test_ack(port: int) -> None:
    async with screen_of(port) as screen:
        await open_group(screen)
        await screen.press("down", "a")
        await screen.shows(
            "Acknowledge 1-2 in group ship of orders?", "w1", "delivered 1 times",
            "XACK orders ship 1-2",
        )  # fmt: skip
        await screen.press("n")
        await screen.shows("ack: left as it is")
        assert set(pending(port)) == {"1-1", "1-2", "1-3"}
        await screen.press("a", "y")
        await screen.shows("ack: acknowledged")
        assert set(pending(port)) == {"1-1", "1-3"}


async def test_claim_asks_for_the_consumer(port: int) -> None:
    async with screen_of(port) as screen:
        await open_group(screen)
        await screen.press("c")
        await screen.shows("To which consumer?")
        await screen.type("")
        await screen.shows("claim: say a consumer")
        await screen.press("c")
        await screen.type("w2")
        await screen.shows("Give 1-1 to w2", "counts as delivered once more")
        await screen.press("y")
        await screen.shows("claim: claimed", "w2, ")
        assert pending(port)["1-1"] == ("w2", 2)


async def test_a_question_that_is_left_does_nothing(port: int) -> None:
    async with screen_of(port) as screen:
        await open_group(screen)
        await screen.press("c")
        await screen.shows("To which consumer?")
        await screen.press("escape")
        await screen.shows_not("To which consumer?")
        assert pending(port)["1-1"] == ("w1", 1)


async def test_delete_names_who_will_never_see_the_entry(port: int) -> None:
    async with screen_of(port) as screen:
        await open_group(screen)
        await screen.press("2")
        await screen.shows("item=tea-3")
        await screen.press("x")
        await screen.shows("Delete the entry 1-4 of orders?", "Not delivered yet in: ship")
        await screen.press("y")
        await screen.shows("delete: deleted")
        await screen.shows_not("item=tea-3")
    with client_of(port) as client:
        assert client.xlen("orders") == 9


async def test_a_pending_entry_that_is_deleted_stays_pending(port: int) -> None:
    async with screen_of(port) as screen:
        await open_group(screen)
        await screen.press("x")
        await screen.shows("It stays pending, without fields")
        await screen.press("y")
        await screen.shows("delete: deleted")
        assert len(pending(port)) == 3


async def test_trim_says_what_goes_and_who_has_not_had_it(port: int) -> None:
    async with screen_of(port) as screen:
        await screen.press("t")
        await screen.type("4")
        await screen.shows(
            "Trim stream orders?", "The oldest entries go: 6 of 10.",
            "ship has not been given 3 of them", "ship has 3 pending", "XTRIM orders MAXLEN = 4",
        )  # fmt: skip
        await screen.press("y")
        await screen.shows("trim: 6 have gone")
        await screen.press("t")
        await screen.type("1-9")
        await screen.shows("The oldest entries go: 2 of 4.", "MINID = 1-9")
        await screen.press("y")
        await screen.shows("trim: 2 have gone")
        await screen.press("t")
        await screen.type("1000")
        await screen.shows("trim: nothing would go")
        await screen.press("t")
        await screen.type("all")
        await screen.shows("neither a number nor an id")
    with client_of(port) as client:
        left: Any = client.xrange("orders")
        assert [each for each, _ in left] == ["1-9", "1-10"]


async def test_a_group_is_moved_back_with_a_preview(port: int) -> None:
    async with screen_of(port) as screen:
        await open_group(screen)
        await screen.press("m")
        await screen.type("1-1")
        await screen.shows(
            "Move group ship of orders from 1-3 to 1-1?",
            "Delivered again: 2 entries, 1-2 to 1-3.",
            "Of these 2 entries are pending", "XGROUP SETID orders ship 1-1",
        )  # fmt: skip
        await screen.press("y")
        await screen.shows("move: moved")
    with client_of(port) as client:
        answer: Any = client.xreadgroup("ship", "w9", {"orders": ">"}, count=1)
        assert answer[0][1][0][0] == "1-2"


async def test_a_group_is_moved_on_with_a_preview(port: int) -> None:
    async with screen_of(port) as screen:
        await open_group(screen)
        await screen.press("m")
        await screen.type("$")
        await screen.shows("from 1-3 to $?", "Skipped, so never delivered: 7 entries, 1-4 to 1-10.")
        await screen.press("y")
        await screen.shows("move: moved")
        await screen.press("m")
        await screen.type("1-10")
        await screen.shows("move: it stands at 1-10 already")
        await screen.press("m")
        await screen.type("soon")
        await screen.shows("'soon' is no id and no time")


async def test_an_action_that_the_server_refuses_says_why(redis_port: int) -> None:
    with client_of(redis_port) as client:
        client.xadd("orders", {"item": "tea-0"})
        client.xgroup_create("orders", "ship", "0")
        client.xreadgroup("ship", "w1", {"orders": ">"})
        rules = ("reset", "on", ">secret", "~*", "+@read", "+info", "+xinfo", "+command")
        client.execute_command("ACL", "SETUSER", "reader", *rules)
    async with screen_of(redis_port, username="reader", password="secret") as screen:
        await open_group(screen)
        await screen.press("a")
        await screen.shows("Acknowledge")
        await screen.press("y")
        await screen.shows("has no permissions to run the 'xack' command")
        assert len(pending(redis_port)) == 1


async def test_what_the_server_does_not_have_is_refused_with_the_reason(redis_port: int) -> None:
    with client_of(redis_port) as client:
        client.xadd("orders", {"item": "tea-0"})
        client.xgroup_create("orders", "ship", "0")
        client.xreadgroup("ship", "w1", {"orders": ">"})
    async with screen_of(redis_port) as screen:
        await open_group(screen)
        for key, missing in (("p", "XGROUP PAUSE"), ("R", "XREDRIVE"), ("n", "XNACK")):
            await screen.press(key)
            await screen.shows("Redis 7.0.", f"has no {missing}")


async def test_read_only_changes_nothing(server: PenstockServer) -> None:
    server.call("XADD", "orders", "1-1", "a", "b")
    async with screen_of(server.port, read_only=True) as screen:
        await screen.press("t")
        await screen.shows("trim: started with --read-only")


async def test_an_action_of_another_screen_is_not_done_here(server: PenstockServer) -> None:
    server.call("XADD", "orders", "1-1", "a", "b")
    async with screen_of(server.port) as screen:
        await screen.press("a")
        await screen.shows("ack: choose a pending entry")
        await screen.press("m")
        await screen.shows("move: choose a group")


# ---------------------------------------------------------------------- Penstock's own


@pytest.fixture
def queue(server: PenstockServer) -> PenstockServer:
    """Two dead letters, one job under way."""
    server.call("XGROUP", "CREATE", "orders", "ship", "0", "MKSTREAM")
    policy = "VISIBILITY 60000 MAXDELIVERIES 3 DEADLETTER orders:dead MKSTREAM"
    server.call("XGROUP", "CFGSET", "orders", "ship", *policy.split())
    for number in range(3):
        server.call("XADD", "orders", f"1-{number + 1}", "item", f"tea-{number}")
    server.call("XREADGROUP", "GROUP", "ship", "w1", "STREAMS", "orders", ">")
    server.call("XNACK", "orders", "ship", "FATAL", "IDS", "2", "1-2", "1-3")
    return server


async def test_pause_and_resume(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("g", "p")
        await screen.shows("Pause group ship of orders?", "given nothing until it is resumed")
        await screen.press("y")
        await screen.shows("pause/resume: done", "paused")
        assert queue.call("XREADGROUP", "GROUP", "ship", "w", "STREAMS", "orders", ">") is None
        await screen.press("p")
        await screen.shows("Resume group ship of orders?")
        await screen.press("y")
        await screen.shows_not("paused")


async def test_redrive(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await screen.press("g", "R")
        await screen.shows("Redrive 2 of 2 dead letters of orders:dead?", "as a new entry")
        await screen.press("y")
        await screen.shows("redrive: 2 sent back")
        assert queue.call("XLEN", "orders") == 5
        await screen.press("R")
        await screen.shows("redrive: orders:dead is empty")


async def test_nack(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await open_group(screen)
        await screen.press("n")
        await screen.shows("Let 1-1 fail in group ship of orders?", "becomes a dead letter")
        await screen.press("y")
        await screen.shows("nack: released", "nobody, ")
        assert pending(queue.port) == {"1-1": ("", 1)}


async def test_a_dead_letter_is_deleted_where_it_lies(queue: PenstockServer) -> None:
    async with screen_of(queue.port) as screen:
        await open_group(screen)
        await screen.press("3")
        await screen.shows("item=tea-1", "item=tea-2")
        await screen.press("x")
        await screen.shows("of orders:dead?")
        await screen.press("y")
        await screen.shows_not("item=tea-1")
        assert queue.call("XLEN", "orders:dead") == 1
