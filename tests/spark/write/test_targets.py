"""To which server and stream rows go."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect.connection import command
from pyspark_penstock.errors import OptionError, SinkError
from pyspark_penstock.write.delivery import Task
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import sink_options
from pyspark_penstock.write.writer import publish, write_rows
from tests.compat.processes import ServerProcess, penstock_command, redis_tool
from tests.spark.stored import xrange

SCHEMA = StructType().add("i", "long").add("_stream", "string").add("_server", "string")


def schema(*names: str) -> StructType:
    found = StructType()
    for field in SCHEMA:
        if field.name in names:
            found.add(field)
    return found


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ServerProcess]]:
    """Penstock and redis-server as a fleet."""
    folder = tmp_path_factory.mktemp("fleet")
    both = [ServerProcess(penstock_command(), folder)]
    both.append(ServerProcess([redis_tool("redis-server")], Path(folder)))
    yield both
    for each in both:
        each.stop()


@pytest.fixture
def ports(processes: list[ServerProcess]) -> list[int]:
    for each in processes:
        with redis.Redis(port=each.port) as client:
            client.flushall()
    return [each.port for each in processes]


def stored(port: int, stream: str) -> list[int]:
    with redis.Redis(port=port) as client:
        return [int(fields[b"i"]) for _, fields in xrange(client, stream)]


def servers(ports: list[int]) -> str:
    return ",".join(f"127.0.0.1:{port}" for port in ports)


@pytest.mark.parametrize("delivery", ["exactly-once", "at-least-once", "ordered"])
def test_a_hash_says_to_which_server_a_row_goes(ports: list[int], delivery: str) -> None:
    """The order of the servers' names counts, not that of the option."""
    given = {"stream": "s", "partitionBy": "i", "delivery": delivery}
    batch = pa.RecordBatch.from_pydict({"i": list(range(40))})
    for order in (ports, ports[::-1]):
        options = sink_options(given | {"servers": servers(order)})
        write_rows(iter([batch]), RowEncoder(schema("i"), options), options, Task("q", 0, 0))
    names = sorted(f"127.0.0.1:{port}" for port in ports)
    for number, name in enumerate(names):
        wanted = [i for i in range(40) if zlib.crc32(str(i).encode()) % 2 == number]
        twice = delivery == "at-least-once"
        assert stored(int(name.split(":")[1]), "s") == wanted * (2 if twice else 1)
        assert wanted


def test_a_column_says_to_which_server_a_row_goes(ports: list[int]) -> None:
    options = sink_options({"servers": servers(ports)})
    names = [f"127.0.0.1:{port}" for port in ports]
    batch = pa.RecordBatch.from_pydict(
        {"i": list(range(6)), "_stream": ["a", "b"] * 3, "_server": [names[0]] * 2 + [names[1]] * 4}
    )
    write_rows(iter([batch]), RowEncoder(SCHEMA, options), options, Task("q", 0, 0))
    assert [stored(port, s) for port in ports for s in "ab"] == [[0], [1], [2, 4], [3, 5]]
    wrong = pa.RecordBatch.from_pydict({"i": [1], "_stream": ["a"], "_server": ["b:1"]})
    with pytest.raises(SinkError, match="for the server 'b:1', which is not in"):
        write_rows(iter([wrong]), RowEncoder(SCHEMA, options), options, Task("q", 1, 0))


def test_atomic_delivery_is_to_one_server(ports: list[int]) -> None:
    given = {"servers": servers(ports), "stream": "s", "partitionBy": "i", "delivery": "atomic"}
    options = sink_options(given)
    encoder = RowEncoder(schema("i"), options)
    for values, fits in (([7] * 5, True), (list(range(40)), False)):
        batch = pa.RecordBatch.from_pydict({"i": values})
        message = write_rows(iter([batch]), encoder, options, Task("q", int(fits), 0))
        if fits:
            publish([message], options)
        else:
            with pytest.raises(SinkError, match="its rows are for 2 servers"):
                publish([message], options)
    assert sorted(stored(ports[0], "s") + stored(ports[1], "s")) == [7] * 5


@pytest.mark.parametrize(
    ("columns", "given", "message"),
    [
        (("i",), {"servers": "a,b", "stream": "s"}, "which server"),
        (("i",), {"servers": "a,b", "stream": "s", "partitionBy": "no"}, "no such column"),
        (("i", "_server"), {"servers": "a,b", "stream": "s", "partitionBy": "i"}, "contradict"),
        (("i",), {"host": "a", "stream": "s", "partitionBy": "i"}, "give 'servers'"),
        (("i",), {"servers": "a"}, "which stream"),
    ],
)
def test_what_does_not_say_where_to_is_refused(
    columns: tuple[str, ...], given: dict[str, str], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        RowEncoder(schema(*columns), sink_options(given))


def test_of_one_server_the_column_is_left_out() -> None:
    """A frame that was read from a fleet can be written to one server."""
    encoder = RowEncoder(SCHEMA, sink_options({"host": "a"}))
    batch = pa.RecordBatch.from_pydict({"i": [1], "_stream": ["s"], "_server": ["x:1"]})
    ((server, stream, commands),) = encoder.encode(batch)
    assert (server, stream) == ("", "s")
    assert b"_server" not in bytes(commands.data)


def test_many_streams_cost_what_their_rows_cost() -> None:
    """Streams times rows would be 100,000,000 comparisons."""
    encoder = RowEncoder(schema("i", "_stream"), sink_options({"host": "a"}))
    names = [f"s{n % 10_000}" for n in range(10_000)]
    batch = pa.RecordBatch.from_pydict({"i": list(range(10_000)), "_stream": names})
    started = time.process_time()
    found = list(encoder.encode(batch))
    assert time.process_time() - started < 1
    assert [stream for _, stream, _ in found] == names
    assert bytes(found[7][2].data) == command("XADD", "s7", "*", "i", "7")
