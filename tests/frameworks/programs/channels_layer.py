"""channels-redis: the pub/sub layer of Django's channels: sends, groups."""

from __future__ import annotations

import asyncio
import sys

from channels_redis.pubsub import RedisPubSubChannelLayer


async def main(url: str) -> None:
    layer = RedisPubSubChannelLayer(hosts=[url])
    one, other = await layer.new_channel(), await layer.new_channel()
    await layer.send(one, {"type": "hello", "to": "one"})
    assert await asyncio.wait_for(layer.receive(one), 10) == {"type": "hello", "to": "one"}
    print("a message comes to its channel")
    for channel in (one, other):
        await layer.group_add("room", channel)
    await layer.group_send("room", {"type": "shout"})
    for channel in (one, other):
        assert await asyncio.wait_for(layer.receive(channel), 10) == {"type": "shout"}
    print("a message comes to all of a group")
    await layer.group_discard("room", other)
    await layer.group_send("room", {"type": "again"})
    assert await asyncio.wait_for(layer.receive(one), 10) == {"type": "again"}
    print("who has left a group gets no more")
    await layer.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
