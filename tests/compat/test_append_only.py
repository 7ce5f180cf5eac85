"""The append-only file is exchangeable: Redis starts on Penstock's, and Penstock on Redis's."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from server.parts.persistence.manifest import BadManifest, parse
from tests.compat import oracles
from tests.compat.processes import ServerProcess, bulk, penstock_command, redis_tool
from tests.compat.resp import Reply

DEADLINE_S = 20.0

DATA = [
    "SET string value",
    "SET number 12345",
    "SET spaced \x01\xff",
    "SETRANGE string 10 end",
    "SET lasting 1 EX 100000",
    "RPUSH list a b c 1 2 3",
    "LPUSH list " + "x" * 9000,
    "LPOP list",
    "HSET hash a 1 b 2 12 x",
    "HINCRBYFLOAT hash a 0.5",
    "HDEL hash b",
    "HSET table a " + "x" * 100,
    "HSET table b 2 c 3",
    "ZADD zset 1 a 2.5 b inf c 1 aa",
    "ZINCRBY zset 0.1 b",
    "ZPOPMIN zset",
    "ZADD tree 0.3 a 1e100 " + "x" * 100,
    "ZADD tree 7 c -inf d",
    "ZUNIONSTORE union 2 zset tree WEIGHTS 2 1",
    "XADD stream 1-1 f v",
    "XADD stream 2-1 f v g w",
    "XADD stream 3-* other fields",
    "XGROUP CREATE stream group 0",
    "XREADGROUP GROUP group alice COUNT 2 STREAMS stream >",
    "XACK stream group 1-1",
    "XGROUP CREATECONSUMER stream group bob",
    "XADD stream 4-1 a b",
    "XDEL stream 4-1",
    "XADD emptied 5-5 a b",
    "XTRIM emptied MAXLEN 0",
    "XGROUP CREATE fresh group $ MKSTREAM",
    "SELECT 3",
    "MULTI",
    "SET in-3 1",
    "RPUSH list-3 a",
    "EXEC",
    "SELECT 0",
    "COPY stream copied",
    "RENAME number renamed",
    "DEL spaced",
]


@contextmanager
def running(command: list[str], folder: Path, *options: str) -> Iterator[ServerProcess]:
    server = ServerProcess(command, folder, "--appendonly", "yes", *options)
    try:
        yield server
    finally:
        server.stop()


def penstock() -> list[str]:
    """Penstock, whose files redis() can read."""
    return [*penstock_command(), "--rdb-oldest-reader", "7.0"]


def redis() -> list[str]:
    return [redis_tool("redis-server")]


def fill(server: ServerProcess, lines: list[str]) -> None:
    for line in lines:
        kind, value = server.control.call(*(word.encode() for word in line.split()))
        assert kind != "-", (line, value)


def contents(server: ServerProcess) -> dict[tuple[int, bytes], list[Any]]:
    """All data of the server, except what time changes."""
    control = server.control
    found: dict[tuple[int, bytes], list[Any]] = {}
    for db in (0, 3):
        control.call(b"SELECT", b"%d" % db)
        for _, key in items(control.call(b"KEYS", b"*")):
            found[db, key] = [control.call(*words, key) for words in ([b"TYPE"], [b"PEXPIRETIME"])]
            found[db, key] += [
                control.call(*words) for words in VALUE_COMMANDS[found[db, key][0][1]](key)
            ]
            if found[db, key][0][1] == b"stream":
                found[db, key] += _groups(server, key)
    control.call(b"SELECT", b"0")
    assert len(found) > 8
    return found


def items(reply: Reply) -> list[Any]:
    """The elements of an array."""
    assert isinstance(reply[1], list), reply
    return reply[1]


VALUE_COMMANDS: dict[bytes, Callable[[bytes], list[list[bytes]]]] = {
    b"string": lambda key: [[b"GET", key]],
    b"hash": lambda key: [[b"HLEN", key], [b"HMGET", key, b"a", b"b", b"c", b"12"]],
    b"list": lambda key: [[b"LRANGE", key, b"0", b"-1"]],
    b"stream": lambda key: [[b"XRANGE", key, b"-", b"+"]],
    b"zset": lambda key: [[b"ZRANGE", key, b"0", b"-1"], [b"ZCOUNT", key, b"0.3", b"(2.6"]],
}


def _groups(server: ServerProcess, key: bytes) -> list[object]:
    """The counters of a stream and its groups, and their pending entries without idle times.

    Without entries-read, which Redis 7.0 does not log with a read.
    """
    fields = items(server.control.call(b"XINFO", b"STREAM", key))
    facts = dict(zip((name for _, name in fields[::2]), fields[1::2], strict=True))
    found: list[object] = [
        facts[name] for name in (b"length", b"last-generated-id", b"max-deleted-entry-id",
                                 b"entries-added")
    ]  # fmt: skip
    for _, group in items(server.control.call(b"XINFO", b"GROUPS", key)):
        found.append(group[:8])
        name = group[1][1]
        pending = items(server.control.call(b"XPENDING", key, name, b"-", b"+", b"100"))
        found.append([(entry[0], entry[1], entry[3]) for _, entry in pending])
        consumers = items(server.control.call(b"XINFO", b"CONSUMERS", key, name))
        found.append([consumer[1] for _, consumer in consumers])
    return found


def rewrite(server: ServerProcess) -> None:
    """Run BGREWRITEAOF, and wait for its end."""
    server.control.call(b"BGREWRITEAOF")
    deadline = time.monotonic() + DEADLINE_S
    while b"aof_rewrite_in_progress:1" in bulk(server.control.call(b"INFO", b"persistence")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert b"aof_last_bgrewrite_status:ok" in bulk(server.control.call(b"INFO", b"persistence"))


def check_log(folder: Path, *options: str) -> None:
    """Let redis-check-aof check the AOF, or do what *options* say."""
    manifest = folder / "appendonlydir" / "appendonly.aof.manifest"
    result = subprocess.run(
        [redis_tool("redis-check-aof"), *options, str(manifest)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


PREAMBLE = pytest.mark.parametrize("preamble", ["yes", "no"])
REWRITTEN = pytest.mark.parametrize("rewritten", [False, True], ids=["written", "rewritten"])
WRITERS = pytest.mark.parametrize(
    ("writer", "reader"), [(penstock, redis), (redis, penstock)], ids=["penstock", "redis"]
)


@PREAMBLE
@REWRITTEN
@WRITERS
def test_each_server_loads_the_other_s_log(
    writer: Callable[[], list[str]],
    reader: Callable[[], list[str]],
    rewritten: bool,
    preamble: str,
    tmp_path: Path,
) -> None:
    options = ["--aof-use-rdb-preamble", preamble, "--aof-timestamp-enabled", "yes"]
    with running(writer(), tmp_path, *options) as server:
        fill(server, DATA[: len(DATA) // 2])
        if rewritten:
            rewrite(server)
        fill(server, DATA[len(DATA) // 2 :])
        written = contents(server)
    check_log(tmp_path)
    with running(reader(), tmp_path, *options) as server:
        assert contents(server) == written
        fill(server, ["SET later 1"])
        rewrite(server)
        written = contents(server)
    check_log(tmp_path)
    with running(writer(), tmp_path, *options) as server:
        assert contents(server) == written


@pytest.mark.parametrize("name", [oracles.REDIS_7, oracles.REDIS_8_6, oracles.VALKEY_9])
@PREAMBLE
def test_checksums_are_skipped_by_others_and_what_they_append_loads(
    name: str, preamble: str, tmp_path: Path
) -> None:
    """Lines after writes, aux fields in the base, a comment in the manifest."""
    command = oracles.command_of(name)
    options = ["--aof-use-rdb-preamble", preamble]
    with running(penstock(), tmp_path, *options) as server:
        for number in range(20):
            server.control.call(b"SET", b"big%d" % number, Random(number).randbytes(9000))
        rewrite(server)
        fill(server, DATA)
        written = contents(server)
    text = b"".join(path.read_bytes() for path in (tmp_path / "appendonlydir").iterdir())
    assert b"\n#S+" in text
    assert b"\n#crc64 " in text
    assert (b"penstock-sums" in text) == (preamble == "yes")
    with running(command, tmp_path, *options) as server:
        assert contents(server) == written
        fill(server, ["SET later 1"])
        written = contents(server)
    with running(penstock(), tmp_path, *options) as server:
        assert contents(server) == written
        fill(server, ["SET again 1"])
    with running(command, tmp_path, *options) as server:
        assert server.control.call(b"GET", b"again") == ("$", b"1")


@WRITERS
def test_each_server_truncates_the_other_s_incomplete_log(
    writer: Callable[[], list[str]], reader: Callable[[], list[str]], tmp_path: Path
) -> None:
    with running(writer(), tmp_path) as server:
        fill(server, DATA)
        written = contents(server)
        fill(server, ["MULTI", "SET half 1", "SET of-it 1", "EXEC"])
    (increment,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    whole = increment.read_bytes()
    increment.write_bytes(whole[: whole.rindex(b"of-it") + 1])
    with running(reader(), tmp_path) as server:
        assert contents(server) == written
    if reader is penstock:
        check_log(tmp_path)  # Redis keeps the start of the cut transaction


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_redis_check_aof_truncates_penstock_s_log_to_a_time(preamble: str, tmp_path: Path) -> None:
    options = ["--aof-timestamp-enabled", "yes", "--aof-use-rdb-preamble", preamble]
    with running(penstock(), tmp_path, *options, "--enable-debug-command", "yes") as server:
        fill(server, ["SET first 1"])
        rewrite(server)
        fill(server, ["DEBUG CLOCK +10s", "SET second 2"])
        fill(server, ["DEBUG CLOCK +10s", "SET third 3", "SET fourth 4"])
    (increment,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    before, *others = re.findall(rb"#TS:(\d+)\r\n", increment.read_bytes())
    assert others  # one, or two if a second has begun between the last commands
    check_log(tmp_path, "--truncate-to-timestamp", before.decode())
    for reader in (penstock(), redis()):
        with running(reader, tmp_path) as server:
            keys = items(server.control.call(b"KEYS", b"*"))
            assert sorted(key for _, key in keys) == [b"first", b"second"]


def test_after_a_restart_aof_base_size_is_the_size_of_the_base(tmp_path: Path) -> None:
    found = []
    for name, command in (("penstock", penstock()), ("redis", redis())):
        folder = tmp_path / name
        folder.mkdir()
        with running(command, folder) as server:
            fill(server, DATA)
        (base,) = (folder / "appendonlydir").glob("*.base.rdb")
        with running(command, folder) as server:
            info = bulk(server.control.call(b"INFO", b"persistence"))
        found.append(b"aof_base_size:%d\r\n" % base.stat().st_size in info)
    assert found == [True, True]


# Since 7.2 Redis selects a database inside of a transaction.
SELECT_AND_MULTI = re.compile(rb"(\*2\r\n\$6\r\nSELECT\r\n\S+\r\n\S+\r\n)(\*1\r\n\$5\r\nMULTI\r\n)")


def test_the_same_commands_give_the_same_log(
    tmp_path: Path,
) -> None:
    logs = []
    # What has a time to live, or is delivered, is logged with the time, which differs.
    lines = [line for line in DATA if "EX" not in line.split() and "READ" not in line]
    for name, command in (("penstock", penstock()), ("redis", redis())):
        folder = tmp_path / name
        folder.mkdir()
        options = ["--aof-checksums", "no"] if name == "penstock" else []
        with running(command, folder, *options) as server:
            fill(server, lines)
        logs.append((folder / "appendonlydir" / "appendonly.aof.1.incr.aof").read_bytes())
    assert logs[0] == SELECT_AND_MULTI.sub(rb"\2\1", logs[1])


MANIFESTS = [
    "file a seq 1 type i",
    'file "a b" seq 1 type i',
    "file a seq 1 type i startoffset 5",
    "# nothing but this\nfile a seq 1 type i",
    "file a seq 1",
    "file a seq 1 type x",
    "file a seq 0 type i",
    "file ../a seq 1 type i",
    "file a seq 1 type i more",
    'file "a seq 1 type i',
    "file a seq 1 type i\nfile b seq 1 type i",
    "file a seq 1 type b\nfile b seq 2 type b",
    "file a seq 2 type i\nfile b seq 1 type i",
    "file a seq 1 type i\n\n",
    "file a seq 1 type i " + "x " * 501 + "x",
    "file a seq 1 type i " + "x " * 503 + "x",
]


@pytest.mark.parametrize("text", MANIFESTS)
def test_a_manifest_is_refused_iff_redis_check_aof_refuses_it(text: str, tmp_path: Path) -> None:
    for name in ("a", "a b", "b"):
        (tmp_path / name).write_bytes(b"*1\r\n$4\r\nPING\r\n")
    path = tmp_path / "appendonly.aof.manifest"
    path.write_bytes(text.encode() + b"\n" if text else b"")
    refused = subprocess.run(
        [redis_tool("redis-check-aof"), str(path)], capture_output=True, check=False
    ).returncode
    if refused:
        with pytest.raises(BadManifest):
            parse(path.read_bytes())
    else:
        assert parse(path.read_bytes()).files
