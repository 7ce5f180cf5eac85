"""channels-redis: the core layer, which keeps messages in sorted sets."""

from __future__ import annotations

import asyncio
import sys

from channels_redis.core import RedisChannelLayer


async def main(url: str) -> None:
    layer = RedisChannelLayer(hosts=[url])
    channel = await layer.new_channel()
    await layer.send(channel, {"type": "hello"})
    assert await asyncio.wait_for(layer.receive(channel), 10) == {"type": "hello"}
    print("a message comes to its channel")
    await layer.group_add("room", channel)
    await layer.group_send("room", {"type": "shout"})
    assert await asyncio.wait_for(layer.receive(channel), 10) == {"type": "shout"}
    print("a message comes to all of a group")
    await layer.flush()
    await layer.close_pools()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
