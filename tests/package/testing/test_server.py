"""A server for tests starts, tells where it is, and ends."""

from __future__ import annotations

import os
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
import redis

from penstock.testing import PenstockServer, ServerError, StartFailed
from penstock.testing.control import Control


def test_url_leads_to_the_unix_socket(server: PenstockServer) -> None:
    assert server.url == f"unix://{server.path}"
    with redis.Redis.from_url(server.url) as client:
        assert client.ping()


def test_a_port_is_opened_when_it_is_asked_for(server: PenstockServer) -> None:
    with redis.Redis(host=server.host, port=server.port) as client:
        assert client.ping()
    assert server.tcp_url == f"redis://127.0.0.1:{server.port}"


def test_an_open_port_survives_a_reset(server: PenstockServer) -> None:
    port = server.port
    server.call("CONFIG", "SET", "maxmemory", "1gb")
    server.reset()
    with redis.Redis(port=port) as client:
        assert client.config_get("maxmemory") == {"maxmemory": "0"}
        assert client.config_get("port") == {"port": str(port)}


def test_url_may_lead_to_the_port_at_once() -> None:
    with PenstockServer(socket="tcp") as server, server.client() as client:
        assert server.url == f"redis://127.0.0.1:{server.port}"
        assert client.ping()


def test_the_folder_is_the_users_alone_and_goes_with_the_server() -> None:
    with PenstockServer() as server:
        folder = server.path.parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_options_are_lines_of_redis_conf() -> None:
    lines = ["maxmemory 100mb", "client-output-buffer-limit pubsub 1mb 1mb 1", 'save "900 1"']
    with PenstockServer(options=lines) as server, server.client() as client:
        assert client.config_get("maxmemory")["maxmemory"] == str(100 * 1024**2)
        assert (
            "pubsub 1048576 1048576 1"
            in client.config_get("client-*")["client-output-buffer-limit"]
        )
        assert client.config_get("save") == {"save": "900 1"}


def test_a_password_is_part_of_the_url() -> None:
    with PenstockServer(options=["requirepass s/e:c@t"]) as server:
        server.reset()
        with server.client() as client:
            assert client.ping()
        with pytest.raises(ServerError, match="NOAUTH"):
            Control(server.path).call("PING")


@pytest.mark.parametrize("line", ["port 7000", "--dir /", "daemonize yes", "rename-command A B"])
def test_what_the_fixture_relies_on_is_no_option(line: str) -> None:
    with pytest.raises(ServerError, match="is set by the fixture"):
        PenstockServer(options=[line]).start()


@pytest.mark.parametrize("line", ["", "maxmemory 'x"])
def test_an_option_that_is_no_line_is_refused(line: str) -> None:
    with pytest.raises(ServerError):
        PenstockServer(options=[line]).start()


def test_a_failed_start_shows_the_log_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(StartFailed, match="no-such-thing"):
        PenstockServer(options=["no-such-thing 1"]).start()
    assert not [*tmp_path.iterdir()]


def test_a_server_that_does_not_run_says_so() -> None:
    server = PenstockServer()
    with pytest.raises(ServerError, match="not running"):
        _ = server.url
    server.stop()


def test_start_and_stop_may_come_twice() -> None:
    server = PenstockServer()
    assert server.start() is server.start()
    server.stop()
    server.stop()
    assert server.start().call("PING") == b"PONG"
    server.stop()


@pytest.mark.parametrize("socket", ["unix", "tcp"])
def test_a_server_that_is_started_again_has_its_address_and_is_as_it_began(
    socket: Literal["unix", "tcp"],
) -> None:
    with PenstockServer(socket=socket, options=["maxmemory 100mb"]) as server:
        url = server.url
        with server.client() as client:
            client.set("k", "v")
            client.config_set("maxmemory", "1gb")
            server.stop()
            with pytest.raises(redis.ConnectionError):
                client.get("k")
            server.start()
            assert server.url == url
            assert client.get("k") is None
            assert client.config_get("maxmemory") == {"maxmemory": str(100 * 1024**2)}
            server.reset()
            assert client.ping()


def test_a_server_that_was_stopped_is_started_anew_by_a_reset() -> None:
    with PenstockServer() as server, server.client() as client:
        url = server.url
        server.stop()
        server.reset()
        assert server.url == url
        assert client.ping()


def test_a_reset_starts_no_server_of_a_block_that_is_over() -> None:
    with PenstockServer() as server:
        pass
    with pytest.raises(ServerError, match="not running"):
        server.reset()


def test_threads_may_share_it(server: PenstockServer) -> None:
    def count() -> None:
        for _ in range(100):
            server.call("INCR", "n")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.call("GET", "n") == b"400"


def test_a_forked_child_uses_the_server_and_leaves_it_to_its_parent(
    server: PenstockServer,
) -> None:
    server.call("SET", "who", "parent")
    if not (pid := os.fork()):
        status = 1
        try:
            status = int(server.call("SET", "who", "child") != b"OK")
            server.stop()
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    assert server.call("GET", "who") == b"child"


def test_a_clock_of_the_data_needs_data() -> None:
    with pytest.raises(ServerError, match="is the time of data"):
        PenstockServer(clock="data")


def test_data_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="no data at"):
        PenstockServer(data=tmp_path / "none.rdb")


def test_data_that_is_broken_is_told_with_the_log(tmp_path: Path) -> None:
    (tmp_path / "dump.rdb").write_bytes(b"REDIS0011 and so on")
    with pytest.raises(StartFailed, match="cannot be loaded"):
        PenstockServer(data=tmp_path).start()


# ---------------------------------------------------------------------- time


def test_a_key_expires_by_travelling(server: PenstockServer) -> None:
    with server.client() as client:
        client.set("session", "x", ex=3600)
        server.travel(minutes=59)
        assert client.exists("session")
        server.travel(minutes=2)
        assert not client.exists("session")


def test_time_stands_still_and_goes_on(server: PenstockServer) -> None:
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    assert server.freeze(noon) == noon
    assert server.now() == noon
    assert server.travel(hours=-1) == noon.replace(hour=11)
    server.thaw()
    server.travel_to(noon)
    assert noon <= server.now() < noon.replace(hour=13)


def test_time_is_the_real_one_after_a_reset(server: PenstockServer) -> None:
    server.freeze(datetime(2030, 1, 1, tzinfo=UTC))
    server.reset()
    assert abs((server.now() - datetime.now(UTC)).total_seconds()) < 3600


NAIVE = datetime(2030, 1, 1)  # noqa: DTZ001  (that is the point)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda server: server.travel(), TypeError, "it was given nothing"),
        (lambda server: server.travel(5), TypeError, "it was given 5"),
        (lambda server: server.travel(timedelta(1), hours=1), TypeError, "it was given both"),
        (lambda server: server.travel(hour=1), TypeError, "hours, .* but no hour"),
        (lambda server: server.travel_to(NAIVE), ValueError, "has no zone"),
        (lambda server: server.travel_to("2030-01-01"), TypeError, "not '2030-01-01'"),
        (lambda server: server.freeze(NAIVE), ValueError, "has no zone"),
    ],
)
def test_a_time_that_makes_no_sense_is_refused_and_the_clock_goes_on(
    server: PenstockServer, call: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(server)
    state = server.call("DEBUG", "CLOCK")
    assert dict(zip(state[::2], state[1::2], strict=True))[b"offset-ms"] == 0
    assert dict(zip(state[::2], state[1::2], strict=True))[b"frozen"] == 0


def test_a_server_begins_at_a_time_with_a_zone() -> None:
    with pytest.raises(ValueError, match="has no zone"):
        PenstockServer(clock=NAIVE)


def test_a_span_may_be_nothing(server: PenstockServer) -> None:
    then = server.freeze()
    assert server.travel(timedelta()) == server.travel(hours=0) == then


def test_a_server_may_begin_at_any_time() -> None:
    then = datetime(2020, 2, 29, tzinfo=UTC)
    with PenstockServer(clock=then) as server:
        for _ in range(2):
            assert server.now().date() == then.date()
            server.travel(days=400)
            server.reset()
