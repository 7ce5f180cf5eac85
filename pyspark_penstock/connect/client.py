"""The driver's client: redis-py's, which follows all addresses of a server and retries.

redis-py knows one address and has rules of its own for retries. Here ``dial`` finds the address,
and ``Retry`` decides what is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.credentials import CredentialProvider
from redis.retry import Retry as RetryOfRedis

from pyspark_penstock.connect.address import ANSWER_S, CONNECT_S, Address, Server
from pyspark_penstock.connect.cluster import refuse_node
from pyspark_penstock.connect.connection import pairs
from pyspark_penstock.connect.credentials import Login
from pyspark_penstock.connect.dial import Preference, dial
from pyspark_penstock.connect.retry import Retry, passes

T = TypeVar("T")
PASSING = (
    redis.ConnectionError,
    redis.TimeoutError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.MasterDownError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.TryAgainError,
)  # fmt: skip  (whose text has no code any more)
IN_PIPELINE = "of pipeline caused error: "


class Client(redis.Redis):
    """A client of *server*. It connects when the first command is sent.

    Any command raises ServerError if it has failed for ``retry_s``, if the login is refused, or if
    the server is a node of a cluster.
    """

    def __init__(self, server: Server, preference: Preference = Preference.ANY) -> None:
        super().__init__()
        self._server = server
        self._preference = preference
        self._found = False  # whether connection_pool has the address of the server

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """The reply to one command.

        SCAN is not retried here: its cursor is valid on one server only. See ``scan_iter``.
        """
        ask = super().execute_command
        if words[0] == "SCAN":
            return ask(*words, **options)  # type: ignore[no-untyped-call]
        return self.retry(words[0], lambda: ask(*words, **options))  # type: ignore[no-untyped-call]

    def scan_iter(self, *words: Any, **options: Any) -> Iterator[Any]:
        """All keys. If a SCAN fails, all of it starts again."""
        scan = super().scan_iter
        return iter(self.retry("SCAN", lambda: list(scan(*words, **options))))

    def transact(self, *commands: Sequence[Any]) -> list[Any]:
        """Run *commands* as one transaction; return replies and errors, one for each command."""

        def attempt() -> Any:
            transaction: Any = self.pipeline(transaction=True)  # redis-py has no types for it
            for words in commands:
                transaction.execute_command(*words)
            return transaction.execute(raise_on_error=False)

        replies: list[Any] = self.retry("EXEC", attempt)
        return replies

    def is_of_replica(self) -> bool:
        """Whether the server is a replica. One that does not support HELLO is not."""
        try:
            return bool(pairs(self.execute_command("HELLO")).get("role") == b"replica")
        except redis.ResponseError:
            return False

    def retry(self, doing: str, attempt: Callable[[], T]) -> T:
        """Call *attempt* until it succeeds; return its result. Before each retry the address is
        looked up.

        Raises ServerError if it has failed for ``retry_s``.
        """
        retry = Retry(self._server, doing)
        while True:
            try:
                self._find()
                return attempt()
            except OSError as problem:
                failure: Exception = problem
            except redis.RedisError as problem:
                if not (isinstance(problem, PASSING) or passes(said(problem))):
                    raise
                failure = problem
            self.close()
            self._found = False
            retry.wait_after(failure)

    def _find(self) -> None:
        """Find the address to use, once. Raises OSError, ServerError."""
        if not self._found:
            with dial(self._server, self._preference) as connection:
                refuse_node(connection)
                self.connection_pool = pool(self._server, connection.address)
            self._found = True


def said(problem: redis.RedisError) -> str:
    """The server's error text. redis-py removes some error codes, and adds words in front."""
    words = str(problem).rpartition(IN_PIPELINE)[2]
    is_abort = isinstance(problem, redis.exceptions.ExecAbortError)
    return f"EXECABORT {words}" if is_abort else words


def pool(server: Server, address: Address) -> redis.ConnectionPool:
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
        host=address[0],
        port=address[1],
        db=server.db,
        credential_provider=LoginProvider(server) if server.login() else None,
        protocol=2,
        socket_connect_timeout=CONNECT_S,
        socket_timeout=ANSWER_S,
        retry=RetryOfRedis(NoBackoff(), 0),
    )


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
