"""Whether a server is a node of a cluster; and what making a sink does not need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.dial import dial
from pyspark_penstock.connect.nodes import is_node
from pyspark_penstock.errors import ServerError
from pyspark_penstock.source import PenstockDataSource
from tests.compat.processes import ServerProcess, redis_tool
from tests.ports import free_port
from tests.spark.troubled import Troubled

SCHEMA = StructType().add("n", "long")
Options = dict[str, str]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A cluster of one node."""
    process = ServerProcess(
        [redis_tool("redis-server")], tmp_path_factory.mktemp("cluster"),
        "--cluster-enabled", "yes", "--cluster-port", str(free_port()),
    )  # fmt: skip
    process.control.call(b"CLUSTER", b"ADDSLOTSRANGE", b"0", b"16383")
    yield process
    process.stop()


def source(at: Options, **options: str) -> PenstockDataSource:
    return PenstockDataSource(at | options)


def test_a_standalone_server_is_not_a_cluster_node(at: Options) -> None:
    with dial(Server.from_environment(at)) as connection:
        assert not is_node(connection)


def test_hello_is_asked_where_info_is_forbidden(node: ServerProcess) -> None:
    with redis.Redis(port=node.port) as admin:
        admin.execute_command(*b"ACL SETUSER ann reset on >pw ~* +@all -info".split())
    with dial(Server.from_environment({"port": str(node.port)})) as connection:
        connection.call("AUTH", "ann", "pw")
        assert is_node(connection)


def test_a_server_that_refuses_info_and_hello_is_accepted(
    at: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a proxy."""

    def refuse(*_: object) -> None:
        raise ServerError("unknown command")

    with dial(Server.from_environment(at)) as connection:
        monkeypatch.setattr(connection, "call", refuse)
        assert not is_node(connection)


def test_making_the_writer_of_a_query_sends_no_command(server: ServerProcess) -> None:
    """Spark makes two writers for each batch.

    A driver that cannot reach the server would otherwise wait each time.
    """
    way = Troubled(server.port)
    source(way.at, stream="s").streamWriter(SCHEMA, overwrite=False)
    assert way.commands == 0
    way.close()


def test_a_sink_that_the_driver_cannot_reach_is_not_refused() -> None:
    """Perhaps only the tasks can reach the server, or only they have the password."""
    at = {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    source(at, stream="s").writer(SCHEMA, overwrite=False)
    there = {"passwordEnv": "SET_WHERE_TASKS_RUN_ONLY"}
    source(at | there, stream="s").writer(SCHEMA, overwrite=False)
