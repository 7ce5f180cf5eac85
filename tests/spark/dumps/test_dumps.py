"""Dumps: what is read of a file is what redis-server answers that loads it. No JVM."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.dumps import reader as dump_reader
from pyspark_penstock.dumps.dump_options import dump_options
from pyspark_penstock.dumps.reader import DumpReader
from pyspark_penstock.errors import DumpError, OptionError
from pyspark_penstock.source import PenstockDataSource
from tests.compat.oracles import REDIS_7, REDIS_8_6, VALKEY_9, command_of
from tests.compat.processes import AT_REST, ROOT, ServerProcess

ORACLES = [REDIS_7, REDIS_8_6, VALKEY_9]
ONE_ORIGIN = pytest.mark.parametrize("origin", [REDIS_7], indirect=True)  # the same of all


@pytest.fixture(scope="module", params=ORACLES)
def origin(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """A redis-server with an AOF, whose dump is read."""
    folder = tmp_path_factory.mktemp("origin")
    process = ServerProcess(
        command_of(request.param),
        folder,
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
        *AT_REST,
    )
    with redis.Redis(port=process.port) as client:
        fill(client)
    yield process
    process.stop()


def fill(client: redis.Redis) -> None:
    """Streams of several shapes, deletions, groups, all types, expiry, another database."""
    for i in range(1, 701):
        client.xadd("orders", {"item": f"i{i % 7}", "count": i}, id=f"{1_000 + i // 3}-{i % 3 + 1}")
    client.xdel("orders", *[f"{1_000 + i // 3}-{i % 3 + 1}" for i in range(5, 400, 3)])
    client.xtrim("orders", maxlen=500, approximate=False)
    for i in range(1, 30):
        client.xadd("mixed", {b"n\xff%d" % (i % 3): b"\xfe" * i, "count": "bad"}, id=f"{i}-0")
    client.xadd("mixed", {"big": b"x" * 3_000_000}, id="40-0")
    client.xadd("gone", {"a": 1})
    client.rename("gone", "moved")
    client.xgroup_create("orders", "workers", id="1100-0")
    client.xreadgroup("workers", "ann", {"orders": ">"}, count=5)
    client.xadd("dead", {"a": 1})
    client.pexpireat("dead", 5)
    client.set("text", 'h\u00e9 "x"', px=10**10)
    client.set("number", 12345)
    client.rpush("list", *range(300), b"\xff")
    client.sadd("set", "b", "a")
    client.sadd("intset", 3, 1)
    client.hset("hash", mapping={"f": "v", "g": "w" * 100})
    client.zadd("zset", {"m": 1.5, "top": float("inf")})
    with redis.Redis(port=client.connection_pool.connection_kwargs["port"], db=3) as other:
        other.xadd("orders", {"item": "other"}, id="9-9")


@pytest.fixture(scope="module")
def rdb(origin: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The RDB of that server."""
    path = tmp_path_factory.mktemp("rdb") / "shard.rdb"
    with redis.Redis(port=origin.port) as client:
        client.save()
        folder = client.config_get("dir")["dir"]
    shutil.copy(Path(folder) / "dump.rdb", path)
    return path


def rows_of(path: Path | str, schema: Any = None, **options: str) -> list[dict[str, Any]]:
    """All rows of a batch read, as Spark would have them, of all tasks one after the other."""
    source = PenstockDataSource({"path": str(path)} | options)
    reader = source.reader(source.schema() if schema is None else schema)
    return [
        row
        for part in reader.partitions()
        for batch in list[Any](reader.read(part))
        for row in batch.to_pylist()
    ]


def entries(rows: list[dict[str, Any]], stream: str) -> list[tuple[str, list[tuple[str, bytes]]]]:
    return [(row["id"], row["fields"]) for row in rows if row["stream"] == stream]


def answered(client: redis.Redis, stream: str) -> list[tuple[str, list[tuple[str, bytes]]]]:
    """What the server answers to XRANGE."""
    found: Any = client.xrange(stream)
    return [
        (entry.decode(), [(name.decode("utf-8", "replace"), value) for name, value in f.items()])
        for entry, f in found
    ]


def test_entries_of_an_rdb_are_those_that_the_server_answers(
    origin: ServerProcess, rdb: Path
) -> None:
    rows = rows_of(rdb)
    assert {row["_file"] for row in rows} == {str(rdb)}
    assert {row["stream"] for row in rows} == {"orders", "mixed", "moved"}
    with redis.Redis(port=origin.port) as client:
        for stream in ("orders", "mixed", "moved"):
            assert entries(rows, stream) == answered(client, stream)


@pytest.mark.parametrize("origin", [REDIS_7, REDIS_8_6], indirect=True)
def test_an_aof_is_what_its_commands_leave(origin: ServerProcess, tmp_path: Path) -> None:
    """The log is the one that redis-server has written: it has XADD, XDEL, XTRIM and RENAME."""
    with redis.Redis(port=origin.port) as client:
        folder = Path(client.config_get("dir")["dir"])
        copy = tmp_path / "data"
        shutil.copytree(folder / "appendonlydir", copy / "appendonlydir")
        rows = rows_of(copy)
        for stream in ("orders", "mixed", "moved"):
            assert entries(rows, stream) == answered(client, stream)
    assert {row["_file"] for row in rows} == {str(copy / "appendonlydir")}


def test_an_aof_of_one_file_and_one_that_is_broken(tmp_path: Path) -> None:
    log = tmp_path / "appendonly.aof"
    add = b"*5\r\n$4\r\nXADD\r\n$1\r\ns\r\n$3\r\n1-1\r\n$1\r\na\r\n$1\r\n1\r\n"
    delete = b"*3\r\n$4\r\nXDEL\r\n$1\r\ns\r\n$3\r\n1-1\r\n"
    torn = add + add.replace(b"1-1", b"2-1") + delete + b"*3\r\n$3\r\nSET\r\n$1\r\na"
    log.write_bytes(torn)
    assert [row["id"] for row in rows_of(log)] == ["2-1"]
    assert log.read_bytes() == torn  # it is only read
    log.write_bytes(add + b"nonsense\r\n" + add)
    with pytest.raises(DumpError, match=r"appendonly\.aof: .*append only file"):
        rows_of(log)


@ONE_ORIGIN
def test_tasks_share_one_file_and_each_entry_is_read_once(
    rdb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rows_of(rdb)
    keys = rows_of(rdb, view="keys")
    monkeypatch.setattr(dump_reader, "LARGE", 100)
    for tasks in (2, 3, 7, 40):
        options = {"minPartitions": str(tasks)}
        reader = DumpReader(dump_options({"path": str(rdb)} | options), StructType())
        assert len(reader.partitions()) == tasks
        assert rows_of(rdb, **options) == whole
        assert rows_of(rdb, view="keys", **options) == keys


def test_a_schema_casts_and_bounds_and_patterns_choose(rdb: Path) -> None:
    schema = StructType().add("count", "integer").add("_file", "string").add("_id", "string")
    rows = rows_of(
        rdb, schema, subscribe="orders", startingOffsets="1200-2", endingTimestamp="1203"
    )
    assert [row["_id"] for row in rows] == [
        f"{ms}-{seq}" for ms in (1200, 1201, 1202) for seq in (1, 2, 3) if (ms, seq) >= (1200, 2)
    ]
    assert rows[0] == {"count": 601, "_file": str(rdb), "_id": "1200-2"}
    named = StructType().add("_stream", "string").add("count", "integer")
    assert {r["_stream"] for r in rows_of(rdb, named, subscribePattern="mo*")} == {"moved"}
    assert {r["count"] for r in rows_of(rdb, named, subscribe="mixed")} == {None}
    after = rows_of(rdb, schema, subscribe="orders", startingOffsets="group:workers")
    assert len(after) < len(rows_of(rdb, schema, subscribe="orders"))
    with pytest.raises(OptionError, match="has no group 'nobody'"):
        rows_of(rdb, schema, subscribe="orders", startingOffsets="group:nobody")


def test_another_database_is_chosen_by_db(rdb: Path) -> None:
    assert [(row["stream"], row["id"]) for row in rows_of(rdb, db="3")] == [("orders", "9-9")]


def test_all_types_are_rows_of_the_view_of_keys(origin: ServerProcess, rdb: Path) -> None:
    rows = {(row["db"], row["key"]): row for row in rows_of(rdb, view="keys")}
    with redis.Redis(port=origin.port, decode_responses=True, encoding_errors="replace") as client:
        assert {key for db, key in rows if db == 0} == set(client.keys("*"))
        for (db, key), row in rows.items():
            assert db == 3 or client.type(key) == row["type"]
        values = {key: json.loads(row["value"] or "null") for (db, key), row in rows.items()}
        assert values["text"] == client.get("text")
        assert values["list"] == client.lrange("list", 0, -1)
        assert values["hash"] == client.hgetall("hash")
        assert values["zset"] == {"m": 1.5, "top": "inf"}
        assert sorted(values["set"]) == ["a", "b"]
        assert sorted(values["intset"]) == ["1", "3"]
        expires = rows[0, "text"]["expires"].timestamp()
        assert round(expires * 1_000) == client.pexpiretime("text")
    assert rows[0, "number"]["bytes"] == b"12345"
    assert rows[0, "orders"]["value"] is None
    assert (3, "orders") in rows


def test_groups_are_rows_of_a_view(rdb: Path) -> None:
    (row,) = rows_of(rdb, view="groups", subscribe="orders")
    assert (row["stream"], row["group"], row["consumers"], row["pending"]) == (
        "orders", "workers", 1, 5,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda data: data[: len(data) // 2], "announced than there are"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "checksum"),
        (lambda data: b"REDIS9999" + data[9:], "9999"),
        (lambda data: b"no dump at all", "not an RDB"),
        (lambda data: b"", "empty"),
        (lambda data: data[:9] + b"\x00\x81" + b"\xff" * 8 + data[9:], "announced"),
        (lambda data: data[:9] + b"\x63\x01k" + data[9:], "not served"),
    ],
    ids=["truncated", "wrong checksum", "version", "other", "empty", "huge length", "unknown type"],
)
def test_a_bad_file_is_an_error_that_names_it_or_is_skipped_as_a_whole(
    rdb: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Any, told: str
) -> None:
    bad = tmp_path / "a\nbad.rdb"
    bad.write_bytes(damage(rdb.read_bytes()))
    shutil.copy(rdb, tmp_path / "good.rdb")
    with pytest.raises(DumpError) as refused:
        rows_of(tmp_path / "*.rdb")
    assert told in str(refused.value)
    assert "a\\nbad.rdb" in str(refused.value)
    assert "\n" not in str(refused.value)
    rows = rows_of(tmp_path, badFiles="skip")
    assert {row["_file"] for row in rows} == {str(tmp_path / "good.rdb")}
    assert "a\\nbad.rdb" in caplog.text


def test_options_that_make_no_sense_are_refused(tmp_path: Path, rdb: Path) -> None:
    for options, told in [
        ({"path": str(tmp_path / "none*")}, "there is no RDB"),
        ({"path": "s3://bucket/a.rdb"}, "local"),
        ({"path": str(rdb), "fetchSize": "1"}, "fetchsize"),
        ({"path": str(rdb), "badFiles": "x"}, "fail or skip"),
        ({"path": str(rdb), "view": "keys", "startingOffsets": "1"}, "view=keys"),
    ]:
        with pytest.raises(OptionError, match=told):
            rows_of(**options)
    with pytest.raises(OptionError, match="read by a batch"):
        PenstockDataSource({"path": str(rdb), "subscribe": "s"}).streamReader(StructType())


SHADOWED = """
import storage, sys
from pyspark_penstock.dumps.stored import Dump
print([kept.type for kept in Dump(sys.argv[1]).keys() if kept.key == b"moved"])
import storage as again, importlib.util
print(storage is again, storage.whose, importlib.util.find_spec("storage").origin)
"""


@ONE_ORIGIN
def test_a_module_named_storage_stays_its_owners(rdb: Path, tmp_path: Path) -> None:
    """The server's packages bear names that a user's program may have, too."""
    (tmp_path / "storage.py").write_text("whose = 'theirs'")
    (tmp_path / "server.py").write_text("raise ImportError('not ours')")
    done = subprocess.run(
        [sys.executable, "-c", SHADOWED, str(rdb)],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "['stream']", f"True theirs {tmp_path / 'storage.py'}",
    ], done.stderr  # fmt: skip
