"""redis-py: scripts, functions and locks, in RESP2 and RESP3, sync and asyncio."""

from __future__ import annotations

import asyncio
import sys
import threading

import redis
import redis.asyncio

RAISE = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
REFUSE = "return redis.error_reply('ERR as was asked for')"
LIBRARY = """#!lua name=shop
local function sell(keys, args)
  return redis.call('HINCRBY', keys[1], 'left', -args[1])
end
local function left(keys)
  return redis.call('HGET', keys[1], 'left')
end
redis.register_function('sell', sell)
redis.register_function{function_name='left', callback=left, flags={'no-writes'}}
"""


def raises(error: type[Exception], text: str, call, *arguments) -> bool:
    """Whether the call raises *error* with *text* in it."""
    try:
        call(*arguments)
    except error as problem:
        return text in str(problem)
    return False


def check_scripts(client: redis.Redis) -> None:
    client.script_flush()
    script = client.register_script(RAISE)
    assert script(keys=["n"], args=[2]) == 2
    assert client.script_exists(script.sha, "0" * 40) == [True, False]
    client.script_flush()
    assert script(keys=["n"], args=[3]) == 5  # NOSCRIPT has redis-py load it again
    client.script_flush()
    with client.pipeline() as pipe:
        pipe.set("n", 10)
        script(keys=["n"], args=[1], client=pipe)
        script(keys=["n"], args=[1], client=pipe)
        assert pipe.execute() == [True, 11, 12]
    assert client.evalsha_ro(client.script_load("return redis.call('GET', KEYS[1])"), 1, "n")
    assert raises(redis.ResponseError, "as was asked for", client.eval, REFUSE, 0)
    assert raises(
        redis.ResponseError, "Write commands are not allowed", client.eval_ro, RAISE, 1, "n", 1
    )
    assert client.get("n") == "12"


def check_functions(client: redis.Redis) -> None:
    client.function_flush()
    assert client.function_load(LIBRARY) == "shop"
    client.hset("tea", "left", 5)
    assert client.fcall("sell", 1, "tea", 2) == 3
    assert client.fcall_ro("left", 1, "tea") == "3"
    assert len(client.function_list(library="sh*")) == 1
    kept = client.function_dump()
    assert client.function_delete("shop")
    assert client.function_restore(kept)
    assert client.fcall("sell", 1, "tea", 1) == 2
    assert client.function_flush()


def check_locks(client: redis.Redis) -> None:
    lock = client.lock("door", timeout=60)
    assert lock.acquire(blocking=False)
    assert not client.lock("door", blocking_timeout=0.05, sleep=0.01).acquire()
    assert lock.extend(60)
    assert 60 < client.ttl("door") <= 120
    assert lock.reacquire()
    assert client.ttl("door") <= 60
    lock.release()
    assert raises(redis.exceptions.LockError, "not owned", lock.release)
    check_waiting(client)
    assert lock.acquire()
    client.set("door", "somebody else's")
    assert not lock.owned()
    assert raises(redis.exceptions.LockNotOwnedError, "no longer owned", lock.extend, 1)
    assert raises(redis.exceptions.LockNotOwnedError, "no longer owned", lock.release)


def check_waiting(client: redis.Redis) -> None:
    """A lock that others wait for is held by one at a time."""

    def add() -> None:
        with client.lock("door", timeout=60, sleep=0.001):
            client.set("visits", int(client.get("visits")) + 1)

    client.set("visits", 0)
    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.get("visits") == "8"


async def check_asyncio(url: str, protocol: int) -> None:
    async with redis.asyncio.from_url(url, decode_responses=True, protocol=protocol) as client:
        await client.flushall()
        await client.script_flush()
        script = client.register_script(RAISE)
        assert await script(keys=["n"], args=[2]) == 2
        async with client.pipeline() as pipe:
            await script(keys=["n"], args=[1], client=pipe)
            assert await pipe.execute() == [3]
        async with client.lock("door", timeout=60) as held:
            assert await held.extend(60)
            assert await held.reacquire()
            waiting = asyncio.create_task(client.lock("door", sleep=0.001).acquire())
            assert await client.lock("door").locked()
        assert await waiting


def main(url: str) -> None:
    for protocol in (2, 3):
        client = redis.Redis.from_url(url, decode_responses=True, protocol=protocol)
        client.flushall()
        check_scripts(client)
        print(f"scripts, also in pipelines, RESP{protocol}")
        check_functions(client)
        print(f"functions, RESP{protocol}")
        check_locks(client)
        print(f"locks, RESP{protocol}")
        client.close()
        asyncio.run(check_asyncio(url, protocol))
        print(f"scripts and locks with asyncio, RESP{protocol}")


if __name__ == "__main__":
    main(sys.argv[1])
