"""Links: all that one process asks of one server, whether it is one machine or a cluster.

Requests go to the node that has the key, each node gets its requests in one round trip, and all
nodes work at the same time. What ends without help is tried again (``retry``); MOVED and ASK are
followed at once.

When a connection breaks nobody knows what was executed, and all of it is sent again: so ``ask`` is
for requests that may run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from pyspark_penstock.connect.address import Address, Server
from pyspark_penstock.connect.connection import REDIRECTIONS, Connection, Redirected, Word, refusal
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.nodes import Nodes, Use
from pyspark_penstock.connect.retry import Retry, passes
from pyspark_penstock.connect.slots import SlotMap
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import text

T = TypeVar("T")
MOST_HOPS = 5  # redirections of one request in a row, before a pause: nodes may disagree for long
SCAN_COUNT = 1_000

Request = tuple[str, tuple[Word, ...]]


class Open(NamedTuple):
    """A request without its reply, and how many nodes have sent it on."""

    at: int
    request: Request
    hops: int = 0


class Batch(NamedTuple):
    """Requests of one node."""

    connection: Connection
    requests: list[Open]


class Links:
    """The connections of one process to *server*, made on first use. Not thread-safe.

    *doing* says in errors what they are for. All methods raise ServerError if it has failed for
    ``retry_s``, or if a login is refused.
    """

    def __init__(self, server: Server, preference: Preference, doing: str) -> None:
        self._server = server
        self._doing = doing
        self._nodes = Nodes(server, preference)

    def close(self) -> None:
        """Close all connections; the next use makes others."""
        self._nodes.close()

    # ------------------------------------------------------------------ many requests

    def ask(self, requests: Sequence[Request]) -> list[Any]:
        """The reply to each request, which is the stream or key that it is about, and its words.

        A server's error is a ServerError in the list.
        """
        replies: list[Any] = [None] * len(requests)
        waiting = [Open(at, request) for at, request in enumerate(requests)]
        retry = self.new_retry()
        while waiting:
            waiting, problem = self._round(waiting, replies)
            if problem is not None:
                retry.wait_after(problem)
        return replies

    def _round(
        self, waiting: list[Open], replies: list[Any]
    ) -> tuple[list[Open], Exception | None]:
        """Send each node its requests once; what is to be sent again, and why to wait before."""
        again: list[Open] = []
        problems: list[Exception] = []
        sent: list[Batch] = []
        for batch in self._by_node(waiting, again, problems):
            try:
                batch.connection.send_all([each.request[1] for each in batch.requests])
                sent.append(batch)
            except OSError as broken:
                self._nodes.drop(batch.connection)
                again += batch.requests
                problems.append(broken)
        answered: list[tuple[Batch, list[Any]]] = []
        for batch in sent:
            try:
                answered.append((batch, batch.connection.replies()))
            except OSError as broken:
                self._nodes.drop(batch.connection)
                again += batch.requests
                problems.append(broken)
        for batch, found in answered:  # only now is no reply on its way, and a node can be asked
            for each, reply in zip(batch.requests, found, strict=True):
                why = self._why_again(each, reply, batch.connection)
                if why is None:
                    replies[each.at] = reply
                    continue
                again.append(each._replace(hops=each.hops + 1))
                if not isinstance(why, Redirected) or each.hops >= MOST_HOPS:
                    problems.append(why)
        return again, problems[-1] if problems else None

    def _by_node(
        self, waiting: list[Open], again: list[Open], problems: list[Exception]
    ) -> list[Batch]:
        """The requests of each node; those whose node is away go to *again*, with the reason."""
        places: dict[tuple[Address, Use], list[Open]] = {}
        for at, each in enumerate(waiting):
            try:
                places.setdefault(self._nodes.where(each.request[0]), []).append(each)
            except OSError as unknown:
                again.extend(waiting[at:])
                problems.append(unknown)
                break
        batches = []
        for place, requests in places.items():
            try:
                batches.append(Batch(self._nodes.connection(*place), requests))
            except OSError as away:
                again.extend(requests)
                problems.append(away)
        return batches

    def _why_again(self, each: Open, reply: Any, connection: Connection) -> Exception | None:
        """Why a request is to be sent again; None if *reply* answers it."""
        if not isinstance(reply, ServerError):
            return None
        refused = str(reply)
        if refused.startswith(REDIRECTIONS):
            moved = Redirected(refused)
            self.failed(each.request[0], connection, moved)
            return moved
        if not passes(refused):
            return None
        self._nodes.forget()
        return ConnectionError(refused)

    def one(self, stream: str, *words: Word) -> Any:
        """The reply to one request about *stream*. Raises ServerError for an error, too."""
        (reply,) = self.ask([(stream, words)])
        if isinstance(reply, ServerError):
            raise reply
        return reply

    def new_retry(self) -> Retry:
        """How long to try, afresh: the time begins with the first failure."""
        return Retry(self._server, self._doing)

    def group(self, stream: str) -> object:
        """Equal for streams that one transaction can write."""
        return self._persistently(lambda: self._nodes.group(stream))

    # ------------------------------------------------------------------ one node

    def connection_of(self, stream: str) -> Connection:
        """The connection to who has *stream* now. Raises OSError."""
        return self._nodes.connection(*self._nodes.where(stream))

    def failed(
        self,
        stream: str,
        connection: Connection | None,
        problem: OSError,
        *,
        settle: bool = False,
    ) -> None:
        """What to do after *problem* with *stream*: follow a redirection, or drop the connection.

        The next ``connection_of`` then has a chance. With *settle* ASK is not followed.
        """
        if isinstance(problem, Redirected) and connection is not None:
            try:
                if not (settle and str(problem).startswith("ASK")):
                    self._nodes.redirect(stream, connection, problem)
            except OSError:
                self._nodes.drop(connection)
        elif connection is not None:
            self._nodes.drop(connection)

    def drop(self, connection: Connection) -> None:
        """Close a connection, in which replies may be left or which broke."""
        self._nodes.drop(connection)

    @contextmanager
    def lent(self, stream: str) -> Iterator[Connection]:
        """A connection to who has *stream* now, for many pages; at the end all are closed.

        After an OSError the next one is where the server said. Raises OSError.
        """
        connection = self.connection_of(stream)
        try:
            yield connection
        except OSError as problem:
            self.failed(stream, connection, problem)
            raise
        except BaseException:
            self.close()
            raise
        self.close()

    def retry(self, stream: str, attempt: Callable[[Connection], T]) -> T:
        """Call *attempt* with the connection to who has *stream*, until it succeeds.

        Any other exception than OSError leaves at once, and the connection is dropped: a reply may
        still arrive on it.
        """
        retry = self.new_retry()
        while True:
            connection = None
            try:
                connection = self.connection_of(stream)
                return attempt(connection)
            except OSError as problem:
                self.failed(stream, connection, problem)
                retry.wait_after(problem)
            except BaseException:
                if connection is not None:
                    self._nodes.drop(connection)
                raise

    # ------------------------------------------------------------------ all nodes

    def each_node(self, *words: Word) -> list[Any]:
        """The reply of each primary to one command, parsed; an error is a ServerError."""
        return self._persistently(lambda: self._of_each(*words))

    def scan(self, pattern: Word, kind: str = "stream") -> list[str]:
        """The names of all keys of a type, or of all, that match the glob *pattern*, sorted."""
        words = ("MATCH", pattern, *(("TYPE", kind) if kind else ()))
        names = self._persistently(lambda: self._scanned(words))
        return sorted(names)

    def _persistently(self, attempt: Callable[[], T]) -> T:
        retry = self.new_retry()
        while True:
            try:
                return attempt()
            except OSError as problem:
                retry.wait_after(problem)

    def _of_each(self, *words: Word) -> list[Any]:
        """The reply of each primary to one command. Raises OSError."""
        connections = [self._nodes.connection(at) for at in self._nodes.map().primaries]
        for connection in connections:
            self._or_close(connection, lambda one: one.send_all([words]))
        return [self._or_close(connection, Connection.replies)[0] for connection in connections]

    def _or_close(self, connection: Connection, use: Callable[[Connection], T]) -> T:
        try:
            return use(connection)
        except BaseException:
            self._nodes.close()  # replies of other nodes are on their way, too
            raise

    def _scanned(self, words: tuple[Word, ...]) -> set[str]:
        """All names. A key whose slot moves may be at neither node when that one is scanned.

        So then all is scanned again: a key that the first pass has missed was moved before that
        was over, and stays where it is.
        """
        before = self._unrest()
        names = self._pass(words)
        if before is not None and (before[1] or self._unrest() != before):
            names |= self._pass(words)
        return names

    def _unrest(self) -> tuple[SlotMap, bool] | None:
        """Who has which slot, and whether slots move; None of a server that is no cluster."""
        self._nodes.map()
        if not self._nodes.is_cluster:
            return None
        self._nodes.learn()
        lines = [
            line.split()
            for nodes in self._of_each("CLUSTER", "NODES")
            for line in (b"" if isinstance(nodes, ServerError) else nodes).splitlines()
        ]
        return self._nodes.map(), any(word.startswith(b"[") for line in lines for word in line)

    def _pass(self, words: tuple[Word, ...]) -> set[str]:
        """The names that SCAN finds, all nodes at the same time. Raises OSError, ServerError."""
        names: set[str] = set()
        cursors: dict[Address, bytes] = dict.fromkeys(self._nodes.map().primaries, b"0")
        while cursors:
            connections = {at: self._nodes.connection(at) for at in cursors}
            for at, connection in connections.items():
                request = ("SCAN", cursors[at], *words, "COUNT", SCAN_COUNT)
                self._or_close(connection, partial(Connection.send_all, requests=[request]))
            for at, connection in connections.items():
                (reply,) = self._or_close(connection, Connection.replies)
                cursors[at] = self._take(reply, names)
            cursors = {at: cursor for at, cursor in cursors.items() if cursor != b"0"}
        return names

    def _take(self, reply: Any, names: set[str]) -> bytes:
        """Add what SCAN has found; its cursor. Raises OSError, ServerError."""
        if isinstance(reply, ServerError):
            self._nodes.close()
            raise refusal(str(reply))
        cursor, found = reply
        names.update(map(text, found))
        return bytes(cursor)
