"""pytest-asyncio: each test has a loop of its own, or shares one; the client works in all."""

import asyncio

import pytest
import pytest_asyncio

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("number", range(3))
async def test_one_loop_after_the_other(penstock_async_client, number):
    assert await penstock_async_client.incr("n") == 1


async def test_a_waiting_read_and_a_write(penstock_async_client):
    async with asyncio.TaskGroup() as group:
        read = group.create_task(penstock_async_client.xread({"news": "$"}, block=0))
        while not (await penstock_async_client.info("clients"))["blocked_clients"]:
            await asyncio.sleep(0)
        group.create_task(penstock_async_client.xadd("news", {"title": "x"}))
    ((stream, _),) = _items(read.result())
    assert stream == b"news"


def _items(reply):
    return list(reply.items()) if isinstance(reply, dict) else reply


async def test_a_wait_ends_by_travelling(penstock_async_client, penstock):
    wait = asyncio.create_task(penstock_async_client.blpop("queue", timeout=3600))
    while not (await penstock_async_client.info("clients"))["blocked_clients"]:
        await asyncio.sleep(0)
    await asyncio.to_thread(penstock.travel, hours=1)
    assert await wait is None


@pytest_asyncio.fixture
async def queue(penstock_async_client):
    await penstock_async_client.rpush("queue", "a", "b")
    return "queue"


async def test_a_fixture_that_awaits(penstock_async_client, queue):
    assert await penstock_async_client.llen(queue) == 2


@pytest.mark.asyncio(loop_scope="module")
async def test_a_loop_of_the_module_one(penstock_async_client):
    assert await penstock_async_client.incr("n") == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_a_loop_of_the_module_two(penstock_async_client):
    assert await penstock_async_client.incr("n") == 1


@pytest.mark.asyncio(loop_scope="session")
async def test_a_loop_of_the_session(penstock_async_client):
    assert await penstock_async_client.incr("n") == 1
