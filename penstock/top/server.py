"""One server, as the tables ask it: raw replies, several questions at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import redis
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

Words: TypeAlias = tuple[Any, ...]

LOST = (redis.ConnectionError, redis.TimeoutError, OSError)  # it may come back
CONNECT_S, ANSWER_S = 5.0, 30.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is, and who we are there."""

    url: str
    username: str | None = None
    password: str | None = None
    db: int | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure: bool = False

    def client(self, db: int) -> Redis:
        """A client that answers as the server does, and reports at once that it is gone.

        Raises ValueError if the URL is none.
        """
        more: dict[str, Any] = {"protocol": 2, "db": db}
        if self.username:
            more["username"] = self.username
        if self.password:
            more["password"] = self.password
        if self.url.startswith("rediss:"):
            files = {
                "ssl_ca_certs": self.ca_file,
                "ssl_certfile": self.cert_file,
                "ssl_keyfile": self.key_file,
            }
            more.update({name: value for name, value in files.items() if value})
            if self.insecure:
                more.update(ssl_cert_reqs="none", ssl_check_hostname=False)
        if not self.url.startswith("unix:"):
            more["socket_connect_timeout"] = CONNECT_S
        client = Redis.from_url(
            self.url, socket_timeout=ANSWER_S, retry=Retry(NoBackoff(), 0), **more
        )
        # What the URL says of these must not count more than what is asked for here.
        client.connection_pool.connection_kwargs.update(
            {
                name: more[name]
                for name in ("protocol", "db", "username", "password")
                if name in more
            }
        )
        client.response_callbacks.clear()  # replies as they are, whatever redis-py makes of them
        return client


class Server:
    """A database of a server. Raises what redis-py raises; of LOST it may recover."""

    def __init__(self, address: Address, db: int) -> None:
        self.address = address
        self.db = db
        self._client = address.client(db)

    async def call(self, *words: Any) -> Any:
        execute: Any = self._client.execute_command
        return await execute(*words)

    async def ask(self, questions: Sequence[Words]) -> list[Any]:
        """The replies to all *questions*, by one pipeline. An error is a reply like others."""
        if not questions:
            return []
        async with self._client.pipeline(transaction=False) as pipeline:
            for words in questions:
                pipeline.execute_command(*words)
            answers: list[Any] = await pipeline.execute(raise_on_error=False)
        for answer in answers:
            if isinstance(answer, LOST):
                raise answer
        return answers

    async def close(self) -> None:
        await self._client.aclose()


def is_denied(error: object) -> bool:
    """Whether a reply is an error that says that this user may not do that."""
    return isinstance(error, redis.exceptions.NoPermissionError)


def reason(error: BaseException) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__
