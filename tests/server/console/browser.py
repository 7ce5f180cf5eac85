"""A browser of the console, as far as the server can tell: a cookie, a token, a live stream."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import wraps
from typing import Any

import h11
import pytest

from tests.ports import free_port
from tests.server.running import LIMIT_S, Running, Test, running

WHOLE = 10**12  # stream_sweep.EVENT_NS: all rows that were found are in one event


class Answer:
    """What was answered."""

    def __init__(self, response: h11.Response, body: bytes) -> None:
        self.status = response.status_code
        self.headers = [(name.decode(), value.decode()) for name, value in response.headers]
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str:
        return dict(self.headers).get(name, "")


class Events:
    """A live stream that is open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._text = b""
        self.live = ""
        self.is_over = False

    async def _more(self) -> None:
        size = int(await self._reader.readline(), 16)
        if size:
            self._text += await self._reader.readexactly(size)
        else:
            self.is_over = True
        await self._reader.readexactly(2)

    async def block(self) -> str:
        """The next event or comment, as text; "" at the end."""
        while b"\n\n" not in self._text and not self.is_over:
            await self._more()
        block, _, self._text = self._text.partition(b"\n\n")
        return block.decode()

    async def next(self) -> tuple[str, Any]:
        """The name and the data of the next event."""
        while True:
            block = await self.block()
            fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
            if "event" in fields:
                return fields["event"], json.loads(fields["data"])
            if not block:
                return "", None

    def close(self) -> None:
        self._writer.transport.abort()


class Browser:
    """Talks to the console at *port*."""

    def __init__(self, instance: Running, port: int, tls: ssl.SSLContext | None = None) -> None:
        self.instance = instance
        self.port = port
        self.tls = tls
        self.cookie = ""
        self.csrf = ""

    def _head(self, method: str, path: str, headers: dict[str, str]) -> bytes:
        lines = {"host": f"localhost:{self.port}", **headers}
        if self.cookie:
            lines.setdefault("cookie", self.cookie)
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode()

    async def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> Answer:
        """One request on a connection of its own; names of headers with _ for -."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            named = {"content-type": "application/json", "content-length": str(len(body)), **named}
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls)
        writer.write(self._head(method, path, named) + (body or b""))
        parser = h11.Connection(h11.CLIENT)
        parser.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
        parser.send(h11.EndOfMessage())
        try:
            return await self._answer(reader, parser)
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, parser: h11.Connection) -> Answer:
        response, body = None, b""
        while True:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                parser.receive_data(await reader.read(65536))
            elif isinstance(event, h11.Response):
                response = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                assert response is not None
                return self._kept(Answer(response, body))

    def _kept(self, answer: Answer) -> Answer:
        cookie = answer.header("set-cookie")
        if cookie:
            self.cookie = cookie.partition(";")[0]
        if answer.status == 200 and answer.header("content-type").startswith("application/json"):
            self.csrf = answer.json.get("csrf", self.csrf)
        return answer

    async def api(self, path: str, **headers: str) -> Answer:
        return await self.ask("GET", f"/console/api/{path}", None, **headers)

    async def post(self, path: str, what: object = None, **headers: str) -> Answer:
        body = what if isinstance(what, bytes) else json.dumps(what).encode()
        headers = {"x_csrf_token": self.csrf, **headers}
        return await self.ask("POST", f"/console/api/{path}", body, **headers)

    async def begin(self) -> Browser:
        """Have a session without a login."""
        assert (await self.api("session")).status == 200
        return self

    async def log_in(self, username: str, password: str) -> Answer:
        return await self.post("login", {"username": username, "password": password})

    async def run(self, *commands: str | list[Any], **more: Any) -> Any:
        """The replies to *commands*: words between blanks, or lists of words."""
        argvs = [line.split() if isinstance(line, str) else line for line in commands]
        answer = await self.post("commands", {"commands": argvs, **more})
        return answer.json["replies"]

    async def listen(self) -> Events:
        """Open a live stream."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls)
        writer.write(self._head("GET", "/console/api/live", {}))
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        self.instance._opened.append(writer)  # it is closed at the end
        events = Events(reader, writer)
        name, hello = await events.next()
        assert name == "hello"
        events.live = hello["live"]
        return events

    async def watch(self, events: Events, **what: Any) -> Answer:
        return await self.post("watch", {"live": events.live, "every_ms": 100, **what})

    def another(self) -> Browser:
        return Browser(self.instance, self.port, self.tls)


@asynccontextmanager
async def browsing(**parameters: Any) -> AsyncIterator[Browser]:
    """A server with a console, and a browser."""
    port = free_port()
    console = {"metrics_port": port, "metrics_bind": ["127.0.0.1"], "console": True}
    async with running(**{**console, "hz": 100, **parameters}) as instance:
        yield Browser(instance, port)


def in_a_loop(test: Test) -> Test:
    """Run an async test on one loop, for ten seconds at most: sockets are tested elsewhere."""

    @wraps(test)
    async def limited(*args: Any, **kwargs: Any) -> None:
        async with asyncio.timeout(LIMIT_S):
            await test(*args, **kwargs)

    return pytest.mark.asyncio(limited)  # type: ignore[no-any-return]
