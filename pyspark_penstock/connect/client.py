"""The driver's client: redis-py's, which follows all addresses of a server and retries.

redis-py knows one address and has rules of its own for retries. Here ``dial`` finds the address,
and ``Retry`` decides what is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.credentials import CredentialProvider
from redis.retry import Retry as RetryOfRedis

from pyspark_penstock.connect.address import ANSWER_S, CONNECT_S, Address, Server
from pyspark_penstock.connect.connection import Redirected, pairs
from pyspark_penstock.connect.credentials import Login
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.nodes import Nodes, Use
from pyspark_penstock.connect.retry import Retry, passes
from pyspark_penstock.names import key, text

T = TypeVar("T")
PASSING = (
    redis.ConnectionError,
    redis.TimeoutError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.MasterDownError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.TryAgainError,
)  # fmt: skip  (whose text has no code any more)
SUBCOMMANDS = frozenset({"XINFO", "XGROUP", "OBJECT", "MEMORY"})
KEYLESS = frozenset(
    {"PING", "HELLO", "INFO", "SCAN", "ECHO", "TIME", "ASKING", "CONFIG", "FLUSHALL"}
)
IN_PIPELINE = "of pipeline caused error: "


class Client(redis.Redis):
    """A client of *server*. It connects when the first command is sent.

    In a cluster each command goes to the node that has its key; one without a key goes where the
    last one went. Any command raises ServerError if it has failed for ``retry_s``, or if the login
    is refused.
    """

    def __init__(self, server: Server, preference: Preference = Preference.ANY) -> None:
        super().__init__()
        self._server = server
        self._nodes = Nodes(server, preference)
        self._scanning = Links(server, preference, "SCAN")
        self._pools: dict[tuple[Address, Use], redis.ConnectionPool] = {}
        self._where: tuple[Address, Use] | None = None  # connection_pool is the pool of this node

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """The reply to one command.

        SCAN is not retried here: its cursor is valid on one server only. See ``scan_iter``.
        """
        ask = super().execute_command

        def attempt() -> Any:
            if self._where is not None and self._where[1] is Use.ASKING:
                return self._asking(words, options)
            return ask(*words, **options)  # type: ignore[no-untyped-call]

        return attempt() if words[0] == "SCAN" else self.retry(words[0], attempt, key_of(words))

    def _asking(self, words: Sequence[Any], options: dict[str, Any]) -> Any:
        """The reply of a node that is about to get the command's key."""
        both: Any = self.pipeline(transaction=False)
        both.execute_command("ASKING")
        both.execute_command(*words, **options)
        reply = both.execute(raise_on_error=False)[-1]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def scan_iter(
        self, match: Any = "*", count: Any = None, _type: str | None = None, **_: Any
    ) -> Iterator[Any]:
        """All keys of one type, of each node. If a SCAN fails, all of it starts again."""
        with closing(self._scanning):
            return iter(list(map(key, self._scanning.scan(match, _type or ""))))

    def transact(self, *commands: Sequence[Any]) -> list[Any]:
        """Run *commands*, about one key, as one transaction; return replies and errors, one for
        each command.
        """

        def attempt() -> Any:
            if self._where is not None and self._where[1] is Use.ASKING:
                raise ConnectionError("TRYAGAIN the key's slot is moving")
            transaction: Any = self.pipeline(transaction=True)  # redis-py has no types for it
            for words in commands:
                transaction.execute_command(*words)
            return transaction.execute(raise_on_error=False)

        replies: list[Any] = self.retry("EXEC", attempt, key_of(commands[0]))
        return replies

    def is_of_replica(self) -> bool:
        """Whether the server that was asked last is a replica.

        One that does not support HELLO is not.
        """
        try:
            return bool(pairs(self.execute_command("HELLO")).get("role") == b"replica")
        except redis.ResponseError:
            return False

    def retry(self, doing: str, attempt: Callable[[], T], name: str | None = None) -> T:
        """Call *attempt*, about the key *name*, until it succeeds; return its result. Before each
        retry the address is looked up.

        Raises ServerError if it has failed for ``retry_s``.
        """
        retry = Retry(self._server, doing)
        while True:
            try:
                self._find(name)
                return attempt()
            except OSError as problem:
                failure: Exception = problem
            except redis.exceptions.AskError as problem:
                failure = Redirected(redirection(problem))
            except redis.RedisError as problem:
                if not (isinstance(problem, PASSING) or passes(said(problem))):
                    raise
                failure = problem
            self._recover(name, failure)
            retry.wait_after(failure)

    def _recover(self, name: str | None, failure: Exception) -> None:
        where, self._where = self._where, None
        if isinstance(failure, Redirected) and where is not None and name is not None:
            with suppress(OSError):
                self._nodes.follow(name, where, failure)
                self._nodes.rest()
                return
        self.close()
        self._nodes.lose(where)

    def close(self) -> None:
        """Close all connections."""
        for each in self._pools.values():
            each.disconnect()
        self._pools.clear()
        self._where = None
        super().close()

    def _find(self, name: str | None) -> None:
        """Find the node to use. Raises OSError, ServerError."""
        if name is None and self._where is not None:
            return
        where = self._nodes.where(name or "")
        self._nodes.rest()
        if where not in self._pools:
            self._pools[where] = pool(self._server, *where)
        self.connection_pool = self._pools[where]
        self._where = where


def key_of(words: Sequence[Any]) -> str | None:
    """The key of a command; None if it has none."""
    at = 2 if words[0] in SUBCOMMANDS else 1
    if words[0] in KEYLESS or len(words) <= at:
        return None
    return text(words[at]) if isinstance(words[at], bytes | str) else str(words[at])


def redirection(problem: redis.exceptions.AskError) -> str:
    """MOVED or ASK, as the server said it: redis-py has taken it apart."""
    kind = "MOVED" if isinstance(problem, redis.exceptions.MovedError) else "ASK"
    return f"{kind} {problem.slot_id} {problem.host}:{problem.port}"


def said(problem: redis.RedisError) -> str:
    """The server's error text. redis-py removes some error codes, and adds words in front."""
    words = str(problem).rpartition(IN_PIPELINE)[2]
    is_abort = isinstance(problem, redis.exceptions.ExecAbortError)
    return f"EXECABORT {words}" if is_abort else words


def pool(server: Server, address: Address, use: Use = Use.SLOTS) -> redis.ConnectionPool:
    """redis-py's connection pool for one address."""
    tls = server.tls
    encrypted: dict[str, Any] = {} if tls is None else {
        "connection_class": redis.SSLConnection,
        "ssl_ca_certs": tls.ca_file,
        "ssl_certfile": tls.cert_file,
        "ssl_keyfile": tls.key_file,
        "ssl_cert_reqs": "required" if tls.verify else "none",
        "ssl_check_hostname": tls.verify,
    }  # fmt: skip
    return redis.ConnectionPool(
        **encrypted,
        redis_connect_func=read_copies if use is Use.COPIES else None,
        host=address[0],
        port=address[1],
        db=server.db,
        credential_provider=LoginProvider(server) if server.login() else None,
        protocol=2,
        socket_connect_timeout=CONNECT_S,
        socket_timeout=ANSWER_S,
        retry=RetryOfRedis(NoBackoff(), 0),
    )


def read_copies(connection: Any) -> None:
    """Greet a replica of a cluster, which is to be read."""
    connection.on_connect()
    connection.send_command("READONLY")
    connection.read_response()


class LoginProvider(CredentialProvider):
    """Gives redis-py user and password; both are looked up for each connection."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def get_credentials(self) -> Any:
        """The arguments of AUTH."""
        return (self._server.login() or Login()).words


class LazyClient:
    """Holds a client that *connect* makes on first use.

    It can be pickled; the client is left out.
    """

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._client: Client | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_client": None}

    def get(self) -> Client:
        """The client. Raises what *connect* raises."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    def close(self) -> None:
        """Close the client; the next call of ``get`` makes another."""
        if self._client is not None:
            self._client.close()
            self._client = None
