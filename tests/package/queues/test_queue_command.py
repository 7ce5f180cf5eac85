"""penstock queue, as a user calls it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis

from penstock import queue_command
from penstock.command_line import main
from penstock.queues import Job, Queue, Rejected, Worker
from penstock.testing import PenstockServer
from tests.compat.oracles import REDIS_7, VALKEY_9, Oracles

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=[2, 3])
def url(request: pytest.FixtureRequest, server: PenstockServer) -> str:
    return f"{server.tcp_url}?protocol={request.param}"


@pytest.fixture
def queue(server: PenstockServer) -> Iterator[Queue]:
    """Two dead letters, two jobs under way, one of which another worker left, and three more."""
    with server.client(decode_responses=True) as client:
        queue = Queue(client, "mails", max_deliveries=1, keep_done=True)
        queue.declare()
        queue.enqueue_many(
            {"to": name} for name in ("ann", "bob", "cem", "dan", "eve", "fay", "gil")
        )
        for _ in range(2):
            job = queue.take("w1")
            assert job is not None
            job.reject()
        assert queue.take("w1") is not None
        server.travel(seconds=20)
        assert queue.take("w2") is not None
        yield queue


@pytest.fixture
def say(url: str, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def say(*words: str) -> str:
        assert main(["queue", *words, "--url", url]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return say


@pytest.fixture
def refused(url: str, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def refused(*words: str) -> str:
        assert main(["queue", *words, "--url", url]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        return said.err.removeprefix("penstock queue: ").rstrip("\n")

    return refused


def test_ls_is_a_table_of_all_groups(queue: Queue, say: Callable[..., str]) -> None:
    queue.client.xgroup_create("mails", "audit", "0")
    queue.pause()
    assert say("ls").splitlines() == [
        "queue  group    scheduled  length  lag  pending  oldest  dead",
        "mails  audit            0       7    7        0    20 s",
        "mails  workers          0       7    3        2    20 s     2  paused",
    ]
    assert say("ls", "letters*") == "there is no queue letters*\n"
    assert say("ls", "letters*", "--json") == "[]\n"


def test_ls_says_the_same_to_programs(queue: Queue, say: Callable[..., str]) -> None:
    (row,) = json.loads(say("ls", "--json"))
    assert 20_000 <= row.pop("oldest_ms") < 30_000
    assert row == {
        "queue": "mails", "group": "workers", "scheduled": 0, "length": 7, "lag": 3,
        "pending": 2, "dead": 2, "dead_letters": "mails:dead", "paused": False,
    }  # fmt: skip


def test_peek_shows_jobs_of_each_kind(queue: Queue, say: Callable[..., str]) -> None:
    entries: Any = queue.client.xrange("mails")
    ids = [job_id for job_id, _ in entries]
    lines = say("peek", "mails", "--count", "1").splitlines()
    assert lines[:2] == ["scheduled: 0", "recurring: 0"]
    assert lines[2:4] == ["waiting: 3", f"  {ids[4]}  to=eve"]
    assert lines[4:6] == ["pending: 2", f"  {ids[2]}  w1  delivered 1 times, 20 s ago  to=cem"]
    assert lines[6] == "dead: 2"
    assert "to=ann dead-stream=mails" in lines[7]
    assert len(lines) == 8
    shown = json.loads(say("peek", "mails", "--json"))
    assert [len(shown[kind]) for kind in ("waiting", "pending", "dead")] == [3, 2, 2]
    assert shown["pending"][1]["worker"] == "w2"


def test_peek_shows_what_is_scheduled(
    queue: Queue, server: PenstockServer, say: Callable[..., str]
) -> None:
    later = queue.enqueue({"to": "hal"}, delay_ms=3_600_000)
    server.freeze(datetime(2030, 1, 1, tzinfo=UTC))
    queue.schedule("ping", {"n": "1"}, every_ms=60_000)
    queue.schedule("report", {"n": "2"}, cron="0 3 * * *", zone="Europe/Berlin")
    queue.enqueue({"to": "ivy"}, delay_ms=3_600_000)
    lines = say("peek", "mails", "--count", "1").splitlines()
    assert lines[0] == "scheduled: 1"
    assert lines[1].endswith("  in 60 min  to=ivy")
    assert lines[2:5] == [
        "recurring: 2",
        "  ping  every 60 s  in 60 s  n=1",
        "  report  0 3 * * * Europe/Berlin  in 2 h  n=2",
    ]
    assert "mails  workers          1" in say("ls")
    assert not queue.cancel(later)


def test_redrive_sends_dead_letters_back(queue: Queue, say: Callable[..., str]) -> None:
    assert say("redrive", "mails", "--count", "1") == "1 sent back\n"
    assert say("redrive", "mails") == "1 sent back\n"
    assert say("redrive", "mails") == "0 sent back\n"
    assert Worker(queue, lambda job: None).drain() == 5


def test_dead_letters_that_cannot_go_back_hold_up_no_others(
    queue: Queue, say: Callable[..., str]
) -> None:
    def reject(job: Job) -> None:
        raise Rejected

    gone, kept = (Queue(queue.client, name, dead_letters="dead") for name in ("gone", "kept"))
    for each, count in ((gone, 1100), (kept, 3)):
        each.declare()
        each.enqueue_many([{"n": "1"}] * count)
        assert Worker(each, reject).drain() == count
    queue.client.delete("gone")
    assert say("redrive", "kept", "--count", "2") == "2 sent back\n"
    assert say("redrive", "kept") == "1 sent back\n"
    assert Worker(kept, lambda job: None).drain() == 3
    assert queue.client.xlen("dead") == 1100
    queue.client.delete("dead")
    assert say("redrive", "kept") == "0 sent back\n"


def test_a_queue_is_paused_and_resumed(queue: Queue, say: Callable[..., str]) -> None:
    assert say("pause", "mails") == "paused\n"
    assert say("pause", "mails") == "was paused before\n"
    assert say("ls").splitlines()[1].endswith("  paused")
    assert queue.take("w") is None
    assert say("resume", "mails", "--group", "workers") == "resumed\n"
    assert say("resume", "mails") == "was not paused\n"
    assert queue.take("w") is not None


def test_names_and_fields_do_nothing_to_a_terminal(
    queue: Queue, server: PenstockServer, say: Callable[..., str]
) -> None:
    server.call("XGROUP", "CREATE", b"\xff\x1b[2J", b"g\n", "0", "MKSTREAM")
    assert "\\xff\\x1b[2J  g\\n" in say("ls")
    queue.enqueue({"to": "\x1b[2J"})
    assert "to=\\x1b[2J" in say("peek", "mails")


def test_a_queue_may_have_any_name(
    queue: Queue, say: Callable[..., str], refused: Callable[..., str]
) -> None:
    name, octets = os.fsdecode(b"\xff\x1b[2J"), b"\xff\x1b[2J"
    queue.client.xgroup_create(octets, "workers", "0", mkstream=True)
    assert "\\xff\\x1b[2J  workers" in say("ls", os.fsdecode(b"\xff*"))
    assert say("peek", name).startswith("scheduled: 0")
    assert say("pause", name) == "paused\n"
    assert refused("redrive", name).startswith("\\xff\\x1b[2J has no dead letters")
    assert refused("peek", name * 2) == "there is no queue " + "\\xff\\x1b[2J" * 2


def test_what_cannot_be_done_is_one_line(queue: Queue, refused: Callable[..., str]) -> None:
    assert refused("peek", "letters") == "there is no queue letters"
    assert refused("peek", "mails", "--count", "0") == "--count must be at least 1"
    assert refused("redrive", "mails", "--count", "-1") == "--count must be at least 1"
    queue.client.xgroup_create("mails", "audit", "0")
    assert refused("pause", "mails") == "mails has the groups audit, workers: say --group"
    assert refused("redrive", "mails", "--group", "audit").startswith("mails has no dead letters")
    assert refused("peek", "mails", "--group", "zz") == (
        "there is no group zz: mails has audit, workers"
    )
    queue.client.set("text", "x")
    assert refused("pause", "text") == "text is no stream: its type is string"
    queue.client.xadd("log", {"n": "1"})
    assert refused("peek", "log") == "log has 1 entries, and no group yet"
    queue.client.delete("mails:dead")
    queue.client.set("mails:dead", "x")
    assert refused("peek", "mails", "--group", "workers") == (
        "mails:dead is no stream: its type is string"
    )


def test_signs_that_the_terminal_has_not_are_escaped(queue: Queue, url: str) -> None:
    queue.enqueue({"to": "zoë €"})
    shown = subprocess.run(
        [sys.executable, "-m", "penstock", "queue", "peek", "mails", "--url", url],
        cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": "latin-1"}, capture_output=True,
        check=True, timeout=60,
    )  # fmt: skip
    assert b"to=zo\xeb \\u20ac\n" in shown.stdout
    assert b"dead: 2" in shown.stdout


def test_the_url_may_be_that_of_a_program_that_wants_text(
    queue: Queue, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["ls"], ["peek", "mails"], ["redrive", "mails"], ["pause", "mails"]):
        assert main(["queue", *words, "--url", f"{url}&decode_responses=True"]) == 0
    assert "2 sent back\npaused\n" in capsys.readouterr().out


def test_a_url_with_an_option_that_is_none_is_one_line(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["queue", "ls", "--url", f"{url}&retries=3"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "'retries'" in said


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    "words", [["queue", "peek", "mails", "--url"], ["check", os.devnull], ["--help"]]
)
def test_who_reads_may_have_seen_enough(
    queue: Queue, url: str, words: list[str], buffered: bool
) -> None:
    options = [] if buffered else ["-u"]
    last = [url] if words[-1] == "--url" else []
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as closed:
        ended = subprocess.run(
            [sys.executable, *options, "-m", "penstock", *words, *last],
            cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, check=False, timeout=60,
        )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize("words", [["queue", "ls"], ["top", "--once"]])
def test_who_waits_may_have_waited_enough(words: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        program = [sys.executable, "-m", "penstock", *words, "--url", url]
        with (
            subprocess.Popen(program, cwd=ROOT, stderr=subprocess.PIPE) as waiting,
            silent.accept()[0] as connection,
        ):
            connection.recv(1)
            time.sleep(0.1)
            waiting.send_signal(signal.SIGINT)
            _, errors = waiting.communicate(timeout=20)
    assert (waiting.returncode, errors) == (130, b"")


def test_a_server_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for url in ("redis://127.0.0.1:1", "127.0.0.1"):
        assert main(["queue", "ls", "--url", url]) == 1
        assert capsys.readouterr().err.count("\n") == 1


def test_without_a_verb_it_shows_its_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["queue"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: penstock queue")


def test_without_redis_py_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    assert main(["queue", "ls"]) == 1
    assert capsys.readouterr().err == f"penstock queue: {queue_command.NO_CLIENT}\n"


def test_an_empty_server_has_no_queues(server: PenstockServer, say: Callable[..., str]) -> None:
    assert say("ls") == "there are no queues\n"


@pytest.fixture
def limited(server: PenstockServer) -> Iterator[str]:
    """The URL of a user who may not read keys that begin with x."""
    rules = ("on", ">p", "%RW~[a-w]*", "%W~x*", "+@all")
    server.call("ACL", "SETUSER", "ann", *rules)
    yield server.tcp_url.replace("redis://", "redis://ann:p@")
    server.call("ACL", "DELUSER", "ann")


def test_what_cannot_be_read_is_one_row(
    queue: Queue, limited: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression: it ended the listing."""
    for name in ("broken", "xmails"):
        Queue(queue.client, name).declare()
    queue.client.delete("broken:dead", "xmails:dead")
    queue.client.set("broken:dead", "x")
    assert main(["queue", "ls", "--url", limited]) == 1
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[1].startswith("broken  workers")
    assert lines[1].endswith("  broken:dead is no stream: its type is string")
    assert lines[2].startswith("mails   workers")
    assert lines[3].startswith("xmails")
    assert "ermission" in lines[3]
    assert said.err == "penstock queue: 2 of 3 could not be read\n"
    assert main(["queue", "ls", "--json", "--url", limited]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert ["error" in row for row in rows] == [True, False, True]


def test_the_oldest_job_may_be_one_that_nobody_has_read(
    server: PenstockServer, say: Callable[..., str]
) -> None:
    with server.client() as client:
        queue = Queue(client, "mails")
        queue.declare()
        queue.enqueue({"n": "1"})
        server.travel(seconds=20)
        assert "  20 s" in say("ls")
        assert Worker(queue, lambda job: None).drain() == 1
        assert json.loads(say("ls", "--json"))[0]["oldest_ms"] is None


def test_peek_tells_what_a_job_waits_for(server: PenstockServer, say: Callable[..., str]) -> None:
    with server.client(decode_responses=True) as client:
        queue = Queue(client, "orders", order_by="customer", backoff_ms=60_000)
        queue.declare()
        server.freeze()
        queue.enqueue_many([{"customer": "ann"}] * 2)
        job = queue.take("w1")
        assert job is not None
        assert queue.take("w1") is None
        assert "  w1  delivered 1 times, 0 ms ago  customer=ann\n" in say("peek", "orders")
        assert "  waits for its turn  delivered 0 times  customer=ann\n" in say("peek", "orders")
        assert job.fail()
        assert "  in 60 s  held  delivered 1 times  customer=ann\n" in say("peek", "orders")
        held, waits = json.loads(say("peek", "orders", "--json"))["pending"]
        assert (held["state"], held["idle_ms"]) == ("held", None)
        assert (waits["state"], "next_ms" in waits) == ("waits for its turn", False)
        server.travel(seconds=60)
        assert "  released  delivered 1 times  customer=ann\n" in say("peek", "orders")


def test_octets_can_be_had_back_from_json(queue: Queue, say: Callable[..., str]) -> None:
    """Regression: a line break looked like a backslash and an n."""
    name, value = b"a\xff", "\n\\n \x1b é".encode()
    queue.client.xadd("mails", {name: value})
    said = say("peek", "mails", "--json")
    assert said.isascii()
    fields = json.loads(said)["waiting"][-1]["fields"]
    ((shown_name, shown_value),) = fields.items()
    assert shown_name.encode(errors="surrogateescape") == name
    assert shown_value.encode() == value


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
def test_a_server_that_is_silent_is_one_line(
    scheme: str, silent: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(queue_command, "PATIENCE_S", 0.1)
    assert main(["queue", "ls", "--url", f"{scheme}://127.0.0.1:{silent}"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("penstock queue: no answer within")
    assert said.count("\n") == 1


@pytest.mark.parametrize("kind", [REDIS_7, VALKEY_9])
def test_of_another_server_it_says_that_it_is_not_penstock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    servers = Oracles(tmp_path)
    try:
        port = servers.start(kind).port
        redis.Redis(port=port).xgroup_create("mails", "workers", mkstream=True)
        assert main(["queue", "peek", "mails", "--url", f"redis://127.0.0.1:{port}"]) == 1
    finally:
        servers.stop()
    assert capsys.readouterr().err == f"penstock queue: {queue_command.NOT_PENSTOCK}\n"
