"""limits, the rates of Flask-Limiter: windows that are fixed, moving or sliding, in scripts."""

from __future__ import annotations

import asyncio
import sys
import time

from limits import RateLimitItemPerHour, RateLimitItemPerSecond, aio, storage, strategies

STRATEGIES = (
    "FixedWindowRateLimiter",
    "MovingWindowRateLimiter",
    "SlidingWindowCounterRateLimiter",
)
THREE = RateLimitItemPerHour(3)


def check(url: str, name: str) -> None:
    kept = storage.storage_from_string(url)
    limiter = getattr(strategies, name)(kept)
    assert [limiter.hit(THREE, "ann") for _ in range(4)] == [True, True, True, False]
    assert not limiter.test(THREE, "ann")
    assert limiter.hit(THREE, "bob", cost=2)
    assert not limiter.test(THREE, "bob", cost=2)
    assert limiter.get_window_stats(THREE, "bob").remaining == 1
    assert limiter.get_window_stats(THREE, "ann").reset_time > 0
    limiter.clear(THREE, "ann")
    assert limiter.hit(THREE, "ann")
    brief = RateLimitItemPerSecond(1)
    assert limiter.hit(brief, "ann")
    while not limiter.hit(brief, "ann"):  # until the second is over
        time.sleep(0.01)
    assert kept.check()
    assert kept.reset() >= 2


async def check_asyncio(url: str, name: str) -> None:
    kept = storage.storage_from_string(f"async+{url}", implementation="redispy")
    limiter = getattr(aio.strategies, name)(kept)
    assert [await limiter.hit(THREE, "ann") for _ in range(4)] == [True, True, True, False]
    assert (await limiter.get_window_stats(THREE, "ann")).remaining == 0
    await limiter.clear(THREE, "ann")
    assert await limiter.test(THREE, "ann")
    await kept.reset()


def main(url: str) -> None:
    for name in STRATEGIES:
        check(url, name)
        asyncio.run(check_asyncio(url, name))
        print(f"{name} counts, and forgets")


if __name__ == "__main__":
    main(sys.argv[1])
