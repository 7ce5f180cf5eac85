"""anyio's plugin runs the tests."""

import anyio
import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.parametrize("number", range(3))
async def test_one_loop_after_the_other(penstock_async_client, number):
    assert await penstock_async_client.incr("n") == 1


@pytest.fixture
async def queue(penstock_async_client):
    await penstock_async_client.rpush("queue", "a", "b")
    yield "queue"
    assert await penstock_async_client.llen("queue") == 1


async def test_a_fixture_that_awaits(penstock_async_client, queue):
    assert await penstock_async_client.lpop(queue) == b"a"


async def test_a_wait_that_is_cancelled(penstock_async_client):
    with anyio.move_on_after(0.01):
        await penstock_async_client.blpop("queue")
    assert await penstock_async_client.rpush("queue", "a") == 1
