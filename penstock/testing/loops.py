"""An asyncio client for tests, closed in the event loop that has used it, whatever runs that loop.

A fixture cannot know in which loop a test will run: pytest-asyncio's, anyio's, unittest's, or one
of asyncio.run(). The connections must be closed there, and before that loop is closed; otherwise
Python warns that they were not.

All runners end a loop with ``loop.shutdown_asyncgens()``. So in each loop in which the client
connects, an asynchronous generator is left suspended, and closes the connections when it is closed.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from penstock.testing.server import PenstockServer

if TYPE_CHECKING:
    from redis.asyncio import Redis


class ClientOfLoops:
    """*client* may be used in one loop after the other; close() is for the end of the test.

    *options* are those of ``redis.asyncio.Redis``.
    """

    def __init__(self, server: PenstockServer, options: dict[str, Any]) -> None:
        hook = {"redis_connect_func": self._connected} | options
        self.client: Redis = server.async_client(**hook)
        self._endings: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, AsyncGenerator[None, None]
        ] = weakref.WeakKeyDictionary()

    async def _connected(self, connection: Any) -> None:
        """Called by redis-py for each new connection, in place of what it does itself."""
        loop = asyncio.get_running_loop()
        if loop not in self._endings:
            self._endings[loop] = ending = self._disconnect_at_the_end()
            await anext(ending)
        await connection.on_connect()

    async def _disconnect_at_the_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await self.client.connection_pool.disconnect()

    def close(self) -> None:
        """Close the connections in loops that are still there, as those of a whole session."""
        for loop, ending in list(self._endings.items()):
            if not loop.is_closed() and not loop.is_running():
                loop.run_until_complete(ending.aclose())
