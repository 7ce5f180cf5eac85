"""A live stream: what one browser tab watches, as server-sent events.

    event: hello      data: {"live":"<id>"}                   to say what to watch: POST api/watch
    event: watch      data: {"name":"clients","replies":[..]}     if the replies have changed
    event: streams    data: {"db":0,"at":<unix ms>,"rows":[..],"gone":[..],"complete":true}
                      complete: all streams have been looked at; "name", if they were given one;
                      "error", if the user may not see them; "most", if there are too many
    event: gone       the session is over, or the server stops; then the end
    :                 a comment every 15 s, so that proxies keep the connection open

What is watched is run as the user, in turns of its own, and only what has changed is sent. Nothing
is queued for a browser that reads slowly: as long as it has not taken what was found, nothing more
is looked for.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterator

from server.console.answers import json_text
from server.console.local_client import LocalClient
from server.console.pace import Pace
from server.console.runner import Runner
from server.console.stream_sweep import StreamSweep
from server.console.task import Streams, Subject, Task, subjects_of
from server.console.watch import Watch
from server.console.words import Watching
from server.dispatch.command_lookup import CommandLookup
from server.http.messages import Body, Exchange

ID_BYTES = 16
COMMENT_MS = 15_000
COMMENT = b":\n\n"
GONE = b"event: gone\ndata: {}\n\n"
RETRY = b"retry: 2000\n"


class Live(Body):
    """One live stream, which has a *client* of its own. *ended* is told when it is over."""

    def __init__(
        self,
        client: LocalClient,
        pace: Pace,
        lookup: CommandLookup,
        exchange: Exchange,
        now_ms: int,
        ended: Callable[[str], None],
    ) -> None:
        self.id = secrets.token_urlsafe(ID_BYTES)
        self._runner = Runner(client, pace, self.end)
        self._lookup = lookup
        self._exchange = exchange
        self._ended = ended
        self._events: deque[bytes] = deque([RETRY + event("hello", json_text({"live": self.id}))])
        self._texts: Iterator[str] = iter(())  # the rest of the event that is being sent
        self._tasks: list[Task] = []
        self._is_over = False
        self._has_comment = False
        self._sent_ms = self._now_ms = now_ms

    # ------------------------------------------------------------------ what it watches

    def watch(self, wanted: Watching) -> None:
        """Watch what is *wanted* from now on. What was watched before goes on without a repeat."""
        known = {task.subject: task for task in self._tasks}
        tasks = []
        for subject in subjects_of(wanted):
            task = known.pop(subject, None) or self._new_task(subject)
            task.every_ms = wanted.every_ms
            task.is_paused = wanted.is_paused
            tasks.append(task)
        for task in known.values():
            task.cancel()
        self._tasks = tasks
        self._runner.go_on()
        self.tick(self._now_ms)

    def _new_task(self, subject: Subject) -> Task:
        client, tell = self._runner.client, self._exchange.wake
        if isinstance(subject, Streams):
            return StreamSweep(client, tell, subject)
        return Watch(client, tell, subject, self._lookup)

    def touch(self, now_ms: int) -> None:
        """It is unix time *now_ms*, and somebody is there, even if nothing is run."""
        self._runner.client.touch(now_ms)

    def tick(self, now_ms: int) -> None:
        """Look at what is due by *now_ms*."""
        self._now_ms = now_ms
        if self._is_over:
            return
        self._runner.client.end_wait()
        self._has_comment = self._has_comment or now_ms - self._sent_ms >= COMMENT_MS
        for task in self._tasks:
            if task.is_due(now_ms) and not self._runner.is_full:
                task.begin(now_ms)
                self._runner.add(task)
        if self._has_news():
            self._exchange.wake()

    def _has_news(self) -> bool:
        has_some = any(task.has_news for task in self._tasks)
        return has_some or bool(self._events) or self._has_comment

    # ------------------------------------------------------------------ what is sent

    def more(self) -> bytes | None:
        for text in self._texts:
            if text:
                return self._sending(text.encode())
        if self._events:
            return self._sending(self._events.popleft())
        if self._is_over:
            return None
        for task in self._tasks:
            if task.has_news:
                self._texts = task.event()
                self._runner.go_on()  # it may have waited for that
                return self.more()
        return self._sending(COMMENT) if self._has_comment else b""

    def _sending(self, data: bytes) -> bytes:
        self._has_comment = False
        self._sent_ms = self._now_ms
        return data

    # ------------------------------------------------------------------ the end

    def end(self) -> None:
        """The session is over, or the client of the stream is disconnected."""
        if not self._is_over:
            self._is_over = True
            self._tasks = []
            self._events.append(GONE)  # when the event that is being sent is whole
            self._runner.close()
            self._ended(self.id)
            self._exchange.wake()

    def gone(self) -> None:
        """The browser has left."""
        self._texts = iter(())
        self.end()


def event(name: str, data: str) -> bytes:
    """One event; *data* is JSON in one line."""
    return f"event: {name}\ndata: {data}\n\n".encode()
