"""The driver's client of a server: redis-py's, with the addresses and the patience of all else.

redis-py knows one address and its own rules of trying again. Here it has a connection to the
address that ``dial`` finds, and what fails is tried again by ``Retry``.
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
    """A client of *server*. It connects when it is first asked something.

    Any command raises ServerError when it was tried for too long, or the login is refused, or the
    server is a node of a cluster.
    """

    def __init__(self, server: Server, preference: Preference = Preference.ANY) -> None:
        super().__init__()
        self._server = server
        self._preference = preference
        self._found = False  # the address; the pool is of another until then

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """The reply to one command.

        SCAN is not asked again: its cursor is of the server that gave it, and of no other.
        """
        ask = super().execute_command
        if words[0] == "SCAN":
            return ask(*words, **options)  # type: ignore[no-untyped-call]
        return self.retry(words[0], lambda: ask(*words, **options))  # type: ignore[no-untyped-call]

    def scan_iter(self, *words: Any, **options: Any) -> Iterator[Any]:
        """All keys; from the first again, if that was broken off."""
        scan = super().scan_iter
        return iter(self.retry("SCAN", lambda: list(scan(*words, **options))))

    def transact(self, *commands: Sequence[Any]) -> list[Any]:
        """The replies to *commands*, run as one transaction; those refused are among them."""

        def attempt() -> Any:
            transaction: Any = self.pipeline(transaction=True)  # redis-py has no types for it
            for words in commands:
                transaction.execute_command(*words)
            return transaction.execute(raise_on_error=False)

        replies: list[Any] = self.retry("EXEC", attempt)
        return replies

    def is_of_replica(self) -> bool:
        """Whether the server that is asked is a replica; one that does not tell is none."""
        try:
            return bool(pairs(self.execute_command("HELLO")).get("role") == b"replica")
        except redis.ResponseError:
            return False

    def retry(self, doing: str, attempt: Callable[[], T]) -> T:
        """What *attempt* returns; it is called again where what was wrong will pass.

        Each time the address is looked for anew. Raises ServerError when it was tried for too long.
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
        """Find the address to ask, unless that is done. Raises OSError, ServerError."""
        if not self._found:
            with dial(self._server, self._preference) as connection:
                refuse_node(connection)
                self.connection_pool = pool(self._server, connection.address)
            self._found = True


def said(problem: redis.RedisError) -> str:
    """The server's words, of which redis-py takes the code of some, and puts its own before."""
    words = str(problem).rpartition(IN_PIPELINE)[2]
    is_abort = isinstance(problem, redis.exceptions.ExecAbortError)
    return f"EXECABORT {words}" if is_abort else words


def pool(server: Server, address: Address) -> redis.ConnectionPool:
    """redis-py's connections to one address."""
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
    """Says who connects, each time that a client of redis-py does."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def get_credentials(self) -> Any:
        """The words that follow AUTH."""
        return (self._server.login() or Login()).words


class LazyClient:
    """A client in an object that Spark pickles; *connect* makes it."""

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._client: Client | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_client": None}

    def get(self) -> Client:
        """The client. Raises what *connect* does."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    def close(self) -> None:
        """Close its connections; the next call of ``get`` makes another."""
        if self._client is not None:
            self._client.close()
            self._client = None
