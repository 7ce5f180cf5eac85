"""What a test leaves in a server is gone for the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import redis

from penstock.testing import PenstockServer

Client = redis.Redis

LIBRARY = "#!lua name=lib\nredis.register_function('f', function() return 1 end)"


@pytest.fixture
def client(server: PenstockServer) -> Iterator[Client]:
    client = server.client(decode_responses=True)
    yield client
    client.close()


def state(server: PenstockServer) -> object:
    """Everything that a reset takes back, as far as commands show it."""
    switches = server.call("DEBUG", "CLOCK")[:4]
    return (
        server.call("INFO", "keyspace"),
        server.call("CONFIG", "GET", "*"),
        server.call("ACL", "LIST"),
        server.call("FUNCTION", "LIST"),
        server.call("SCRIPT", "EXISTS", *SCRIPTS),
        server.call("SLOWLOG", "LEN"),
        server.call("ACL", "LOG"),
        server.call("LATENCY", "LATEST"),
        switches,
    )


SCRIPTS = ["e0e1f9fabfc9d4800c877a703b823ac0578ff8db"]  # return 1

LEFT: dict[str, Callable[[Client], object]] = {
    "keys": lambda c: [c.set("a", 1), c.execute_command("SELECT", 3), c.set("b", 1)],
    "parameters": lambda c: c.config_set("maxmemory", "10mb", "hz", "100"),
    "parameters, with statistics reset": lambda c: [c.config_set("hz", 99), c.config_resetstat()],
    "a slow log": lambda c: [c.config_set("slowlog-log-slower-than", 0), c.get("a")],
    "events of latency": lambda c: [
        c.config_set("latency-monitor-threshold", 1), c.execute_command("DEBUG", "SLEEP", "0.01")
    ],
    "a password": lambda c: c.config_set("requirepass", "x"),
    "users": lambda c: c.acl_setuser("ann", enabled=True, passwords=["+pw"], commands=["+get"]),
    "a default user without rights": lambda c: c.execute_command(
        "ACL", "SETUSER", "default", "off", "-@all", "resetkeys", "resetchannels"
    ),
    "a default user with a selector": lambda c: c.execute_command(
        "ACL", "SETUSER", "default", "(+get ~x*)", ">pw"
    ),
    "functions": lambda c: c.function_load(LIBRARY),
    "scripts": lambda c: c.eval("return 1", 0),
    "scripts that were loaded": lambda c: c.script_load("return 1"),
    "changes in a transaction": lambda c: c.pipeline()
    .execute_command("CONFIG", "SET", "hz", 77).execute_command("EVAL", "return 1", 0).execute(),
    "switches": lambda c: [
        c.execute_command("DEBUG", "PAUSE-CRON", "1"),
        c.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0"),
    ],
    "an append-only file": lambda c: c.config_set("appendonly", "yes"),
    "a pause of writes": lambda c: c.client_pause(100_000, all=False),
    "another clock": lambda c: c.execute_command("DEBUG", "CLOCK", "+5d"),
    "a stopped clock": lambda c: c.execute_command("DEBUG", "CLOCK", "FREEZE"),
    "no server": lambda c: c.shutdown(nosave=True),
}  # fmt: skip


@pytest.mark.parametrize("leave", LEFT.values(), ids=LEFT)
def test_what_is_left_is_taken_back(
    server: PenstockServer, client: Client, leave: Callable[[Client], object]
) -> None:
    before = state(server)
    leave(client)
    server.reset()
    assert state(server) == before


def test_a_pause_of_all_ends_the_server_not_the_next_test(
    server: PenstockServer, client: Client
) -> None:
    client.client_pause(100_000)
    server.reset()
    assert client.set("a", 1)


def test_a_script_that_never_ends_is_ended(server: PenstockServer) -> None:
    with server.client(socket_timeout=0.1) as impatient, pytest.raises(redis.TimeoutError):
        impatient.eval("while true do end", 0)
    server.reset()
    assert server.call("PING") == b"PONG"


def test_a_server_that_sleeps_is_not_waited_for(server: PenstockServer) -> None:
    impatient = server.client(socket_timeout=0.1, retry=None)
    with impatient, pytest.raises(redis.TimeoutError):
        impatient.execute_command("DEBUG", "SLEEP", "1000")
    server.reset()
    assert server.call("PING") == b"PONG"


def test_statistics_begin_anew(server: PenstockServer, client: Client) -> None:
    client.get("a")
    server.reset()
    assert client.info("stats")["keyspace_misses"] == 0
    assert "cmdstat_get" not in client.info("commandstats")


def test_a_client_that_waits_gets_nothing_of_the_next_test(
    server: PenstockServer, client: Client
) -> None:
    ended = threading.Event()

    def wait() -> None:
        with pytest.raises(redis.ConnectionError), server.client(retry=None) as waiting:
            waiting.blpop("queue")
        ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    while not client.info("clients")["blocked_clients"]:
        pass
    server.reset()
    assert ended.wait(30)
    thread.join()
    client.rpush("queue", "for the next")
    assert client.lpop("queue") == "for the next"


def test_subscribers_monitors_and_transactions_end(server: PenstockServer, client: Client) -> None:
    with server.client() as subscriber, server.client() as watching, server.client() as multi:
        pubsub = subscriber.pubsub()
        pubsub.subscribe("news")
        assert pubsub.get_message(timeout=10)
        with watching.pipeline() as pipeline, multi.client() as one:
            pipeline.watch("a")
            one.execute_command("MULTI")
            with client.monitor():
                server.reset()
                left = [line["flags"] for line in client.client_list()]
        assert client.pubsub_numsub("news") == [("news", 0)]
        assert not set("".join(left)) & set("OPxd")
        pubsub.close()


def test_idle_clients_stay(server: PenstockServer, client: Client) -> None:
    number = client.client_id()
    server.reset()
    assert client.client_id() == number


def test_clients_from_before_the_test_stay(server: PenstockServer, client: Client) -> None:
    pubsub = client.pubsub()
    pubsub.subscribe("news")
    assert pubsub.get_message(timeout=10)
    server.begin_test()
    server.reset()
    client.publish("news", "still there")
    assert pubsub.get_message(timeout=10)["data"] == "still there"
    pubsub.close()


def test_all_clients_may_have_been_closed(server: PenstockServer, client: Client) -> None:
    run = client.info("server")["run_id"]
    client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
    server.reset()
    assert client.info("server")["run_id"] == run


def test_a_server_that_was_started_anew_has_the_same_address() -> None:
    with PenstockServer(socket="tcp") as server, server.client() as client:
        url = server.url
        client.shutdown(nosave=True)
        server.reset()
        assert server.url == url
        assert client.ping()
