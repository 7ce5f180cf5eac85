"""What a primary and its replicas do for passwords, logs, messages and tools."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
import redis
from redis.exceptions import ResponseError

from tests.compat.oracles import REDIS_7, REDIS_8
from tests.compat.processes import redis_tool
from tests.polling import until
from tests.replication.kinds import (
    OURS,
    Writer,
    await_link,
    await_same,
    counted,
    digest,
    follow,
    node_of,
    started,
)


@pytest.mark.parametrize(("primary_kind", "replica_kind"), [(OURS, REDIS_7), (REDIS_7, OURS)])
def test_a_replica_logs_in(tmp_path: Path, primary_kind: str, replica_kind: str) -> None:
    primary = node_of(primary_kind, tmp_path / "primary")
    replica = node_of(replica_kind, tmp_path / "replica")
    with started(primary):
        primary.client.set("k", "v")
        rules = ("on", ">word", "+psync", "+replconf", "+ping")
        primary.client.execute_command("ACL", "SETUSER", "repl", *rules)
        primary.client.execute_command("ACL", "SETUSER", "default", ">secret")
        primary.client.close()
        primary.client = redis.Redis(port=primary.port, password="secret")
        replica.start("--replicaof", f"127.0.0.1 {primary.port}")
        try:
            log = tmp_path / "replica" / "log"
            until(lambda: "NOAUTH" in log.read_text(), "a refusal")
            replica.client.config_set("masterauth", "secret")
            await_link(replica)
            assert replica.client.get("k") == b"v"
            replica.client.config_set("masteruser", "repl")
            replica.client.config_set("masterauth", "word")
            primary.client.execute_command("CLIENT", "KILL", "TYPE", "replica")
            primary.client.set("k", "w")
            until(lambda: replica.client.get("k") == b"w", "the change")
            assert b"user=repl" in primary.client.execute_command(
                "CLIENT", "LIST", "TYPE", "replica"
            )
        finally:
            replica.kill()


def test_a_replica_with_a_log_has_the_primarys_data_in_it(tmp_path: Path) -> None:
    primary = node_of(OURS, tmp_path / "primary")
    replica = node_of(OURS, tmp_path / "replica", "--appendonly", "yes")
    with started(primary, replica):
        Writer(21).write(primary.client, 200)
        await_link(replica)
        Writer(22).write(primary.client, 200)
        primary.client.set("k", "v")
        local, replicas = primary.client.execute_command("WAITAOF", 0, 1, 20_000)
        assert (local, replicas) == (0, 1)
        await_same(primary, replica)
        wanted = digest(primary)
        replica.kill()
        replica.start()  # by itself: what it has comes from its log
        assert digest(replica) == wanted


@pytest.mark.parametrize(("primary_kind", "replica_kind"), [(OURS, REDIS_8), (REDIS_8, OURS)])
def test_waitaof_counts_the_logs_of_others(
    tmp_path: Path, primary_kind: str, replica_kind: str
) -> None:
    primary = node_of(primary_kind, tmp_path / "primary", "--appendonly", "yes")
    replica = node_of(replica_kind, tmp_path / "replica", "--appendonly", "yes")
    with started(primary, replica):
        await_link(replica)
        primary.client.set("k", "v")
        assert primary.client.execute_command("WAITAOF", 1, 1, 20_000) == [1, 1]


def test_a_copy_is_loaded_beside_the_old_data(tmp_path: Path) -> None:
    """repl-diskless-load swapdb: readers are served from the old data, then from the new."""
    primary = node_of(OURS, tmp_path / "primary")
    replica = node_of(OURS, tmp_path / "replica", "--repl-diskless-load", "swapdb")
    with started(primary), started(replica):
        Writer(25).write(primary.client, 200)
        with primary.client.pipeline(transaction=False) as pipe:
            for number in range(100_000):
                pipe.set(f"key:{number}", number)
            pipe.execute()
        replica.client.set("old", "data")
        waiting = threading.Thread(
            target=replica.client.xread, args=({"s": "$"},), kwargs={"block": 30_000}
        )
        follow(replica, primary)
        waiting.start()
        seen, loading = set(), set()
        while replica.replication()["master_link_status"] != "up":
            seen.add(replica.client.get("old"))  # never -LOADING
            loading.add(replica.client.info("persistence")["async_loading"])
        assert b"data" in seen
        assert loading == {0, 1}
        await_same(primary, replica)
        primary.client.xadd("s", {"f": "v"})
        waiting.join(30)
        assert not waiting.is_alive()


def test_messages_reach_the_subscribers_of_replicas(tmp_path: Path) -> None:
    primary, replica = node_of(OURS, tmp_path / "primary"), node_of(OURS, tmp_path / "replica")
    with started(primary, replica):
        await_link(replica)
        hears = replica.client.pubsub(ignore_subscribe_messages=True)
        hears.subscribe("news")
        hears.get_message(timeout=1)
        primary.client.publish("news", "hello")
        found = until(lambda: hears.get_message(timeout=1), "a message")
        assert found["data"] == b"hello"


@pytest.mark.parametrize("kind", [OURS, REDIS_7])
def test_a_key_that_expires_goes_when_the_primary_says_so(tmp_path: Path, kind: str) -> None:
    primary, replica = node_of(OURS, tmp_path / "primary"), node_of(kind, tmp_path / "replica")
    with started(primary, replica):
        await_link(replica)
        primary.client.set("k", "v", px=200)
        primary.client.hset("h", "f", "v")
        until(lambda: replica.client.dbsize() == 2, "the keys")
        until(lambda: replica.client.get("k") is None, "the expiry")
        until(lambda: replica.client.dbsize() == 1, "the deletion")
        await_same(primary, replica)


def test_functions_are_copied_and_replicated(tmp_path: Path) -> None:
    primary, replica = node_of(OURS, tmp_path / "primary"), node_of(REDIS_7, tmp_path / "replica")
    code = "#!lua name={0}\nredis.register_function('{0}', function() return 7 end)"
    primary_2 = node_of(REDIS_7, tmp_path / "second")
    with started(primary, replica):
        primary.client.function_load(code.format("one"))
        await_link(replica)
        primary.client.function_load(code.format("two"))
        until(lambda: len(replica.client.function_list()) == 2, "both libraries")
        with started(primary_2):
            primary_2.client.function_load(code.format("three"))
            follow(primary, primary_2)
            await_link(primary)
            assert [row[1] for row in primary.client.function_list()] == [b"three"]


def test_redis_cli_gets_a_snapshot_and_the_stream(tmp_path: Path) -> None:
    primary = node_of(OURS, tmp_path / "primary")
    copy = node_of(REDIS_7, tmp_path / "copy")
    with started(primary):
        primary.client.config_set("rdb-oldest-reader", "7.0")  # a tool does not say what it is
        Writer(23).write(primary.client, 200)
        cli = [redis_tool("redis-cli"), "-p", str(primary.port)]
        file = tmp_path / "copy" / "dump.rdb"
        subprocess.run([*cli, "--rdb", str(file)], check=True, capture_output=True, timeout=30)
        with started(copy):
            assert digest(copy) == digest(primary)
        until(lambda: primary.replication()["connected_slaves"] == 0, "the end of the link")
        with subprocess.Popen([*cli, "--replica"], stdout=subprocess.PIPE) as listening:
            try:
                until(lambda: primary.replication()["connected_slaves"] == 1, "a listener")
                until(lambda: primary.replication()["slave0"]["state"] == "online", "its copy")
                primary.client.set("for-the-listener", 1)
                assert listening.stdout is not None
                while b"for-the-listener" not in listening.stdout.readline():
                    pass
            finally:
                listening.kill()


def test_a_reader_of_changes_gets_a_stream_that_parses(tmp_path: Path) -> None:
    """PSYNC by hand, as tools for change data capture do it."""
    primary = node_of(OURS, tmp_path / "primary")
    with started(primary), socket.create_connection(("127.0.0.1", primary.port)) as link:
        file = link.makefile("rwb")
        file.write(b"PSYNC ? -1\r\n")
        file.flush()
        words = file.readline().split()
        assert words[0] == b"+FULLRESYNC"
        size = int(file.readline().lstrip(b"$"))
        assert file.read(size).startswith(b"REDIS")
        primary.client.set("k", "v")
        lines = [file.readline() for _ in range(12)]
        assert lines[:5] == [b"*2\r\n", b"$6\r\n", b"SELECT\r\n", b"$1\r\n", b"0\r\n"]
        assert lines[5:8] == [b"*3\r\n", b"$3\r\n", b"SET\r\n"]


def test_a_link_that_is_cut_anywhere_goes_on_where_it_was(tmp_path: Path) -> None:
    primary = node_of(OURS, tmp_path / "primary", "--repl-backlog-size", "10mb")
    replica = node_of(OURS, tmp_path / "replica")
    writer = Writer(24)
    with started(primary, replica):
        for number in range(6):
            await_link(replica)
            primary.client.set(f"large:{number}", b"x" * 400_000)
            writer.write(primary.client, 40)
            time.sleep(0.003 * number)
            killer = primary if number % 2 else replica
            killer.client.execute_command(
                "CLIENT", "KILL", "TYPE", "replica" if killer is primary else "master"
            )
        await_link(replica)
        await_same(primary, replica)
        assert counted(primary, "sync_full") == 1
        assert counted(primary, "sync_partial_ok") >= 3


@pytest.mark.parametrize("kind", [OURS, REDIS_7])
def test_the_link_to_the_primary_is_a_client_that_can_be_killed(kind: str, tmp_path: Path) -> None:
    primary = node_of(kind, tmp_path / "primary", "--protected-mode", "no")
    replica = node_of(OURS, tmp_path / "replica", "--bind-source-addr", "127.0.0.5")
    with started(primary, replica):
        await_link(replica)
        [link] = replica.client.client_list(_type="master")
        assert (link["flags"], link["user"]) == ("M", "(superuser)")
        assert link["addr"] == f"127.0.0.1:{primary.port}"
        assert link["laddr"].startswith("127.0.0.5:")  # where bind-source-addr has it come from
        [seen] = primary.client.client_list(_type="replica")
        assert seen["addr"] == link["laddr"]
        assert link["id"] in [client["id"] for client in replica.client.client_list()]
        assert [one["id"] for one in replica.client.client_list(client_id=[link["id"]])] == [
            link["id"]
        ]
        assert replica.client.info("clients")["connected_clients"] == 2
        for option in ("ADDR", "LADDR", "TYPE", "ID"):
            [link] = replica.client.client_list(_type="master")
            values = {"TYPE": "master", "ADDR": link["addr"], "LADDR": link["laddr"]}
            value = values.get(option, link["id"])
            assert replica.client.execute_command("CLIENT", "KILL", option, value) == 1
            assert replica.client.execute_command("CLIENT", "KILL", option, value) == 0
            await_link(replica)
        assert replica.client.client_kill(f"127.0.0.1:{primary.port}")
        await_link(replica)
        assert counted(primary, "sync_partial_ok") == 5


def test_keys_that_expire_on_a_writable_replica_do_not_stay(tmp_path: Path) -> None:
    primary = node_of(OURS, tmp_path / "primary")
    replica = node_of(OURS, tmp_path / "replica", "--replica-read-only", "no")
    with started(primary, replica):
        await_link(replica)
        primary.client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        primary.client.set("theirs", "v", px=1)  # stays until the primary says that it is gone
        until(lambda: replica.client.dbsize() == 1 or None, "the primary's key")
        with replica.client.pipeline() as pipe:
            for number in range(500):
                pipe.set(f"ours:{number}", "v", px=1)
            pipe.set("kept", "v", ex=1000)
            pipe.set("renamed", "v", px=5)
            pipe.rename("renamed", "name")
            pipe.eval("return redis.call('SET', 'scripted', 'v', 'PX', 1)", 0)
            pipe.execute()
        until(lambda: replica.client.dbsize() == 2 or None, "keys that have gone")
        assert replica.client.get("kept") == b"v"


def test_who_was_away_for_too_long_gets_a_copy(tmp_path: Path) -> None:
    primary = node_of(OURS, tmp_path / "primary", "--repl-backlog-size", "20kb")
    replica = node_of(REDIS_8, tmp_path / "replica")
    with started(primary, replica):
        await_link(replica)
        with primary.client.pipeline() as pipe:
            pipe.execute_command("CLIENT", "KILL", "TYPE", "replica")
            for number in range(200):
                pipe.set(f"key:{number}", b"x" * 1000)
            pipe.execute()
        await_link(replica)
        await_same(primary, replica)
        assert counted(primary, "sync_full") == 2
        assert counted(primary, "sync_partial_err") == 1


def test_a_replica_that_does_not_read_is_cut_off(tmp_path: Path) -> None:
    primary = node_of(
        OURS, tmp_path / "primary", "--client-output-buffer-limit", "replica 2mb 1mb 1"
    )
    with started(primary), socket.create_connection(("127.0.0.1", primary.port)) as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.sendall(b"SYNC\r\n")
        until(lambda: primary.replication()["connected_slaves"] == 1, "a replica")
        for number in range(40):
            primary.client.set(f"key:{number}", b"x" * 500_000)
        until(lambda: primary.replication()["connected_slaves"] == 0, "its end")
        assert primary.client.ping()


def test_small_writes_need_a_replica_that_keeps_up(tmp_path: Path) -> None:
    primary = node_of(OURS, tmp_path / "primary", "--min-replicas-to-write", "1",
                      "--min-replicas-max-lag", "2")  # fmt: skip
    replica = node_of(REDIS_7, tmp_path / "replica")
    with started(primary, replica):
        until(lambda: primary.client.set("k", 1), "a write")
        replica.kill()

        def is_refused() -> bool:
            try:
                primary.client.set("k", 2)
            except ResponseError as error:
                return "Not enough good replicas" in str(error)
            return False

        until(is_refused, "a refusal")
