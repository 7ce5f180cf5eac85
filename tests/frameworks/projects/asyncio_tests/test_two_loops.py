"""No plugin's loop: the test runs its own, two of them."""

import asyncio


def test_two_loops_one_after_the_other(penstock_async_client):
    async def count():
        return await penstock_async_client.incr("n")

    assert asyncio.run(count()) == 1
    assert asyncio.run(count()) == 2


def test_loops_in_two_threads(penstock):
    async def count():
        async with penstock.async_client() as client:
            for _ in range(50):
                await client.incr("n")

    async def both():
        await asyncio.gather(
            asyncio.to_thread(asyncio.run, count()), asyncio.to_thread(asyncio.run, count())
        )

    asyncio.run(both())
    assert penstock.call("GET", "n") == b"100"
