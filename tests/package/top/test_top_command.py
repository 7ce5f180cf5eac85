"""penstock top without a screen, as a script calls it."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis

from penstock.command_line import main
from penstock.testing import PenstockServer
from penstock.top.command import address_of, parser
from penstock.top.server import Address
from tests.certificates import Certificates
from tests.package.top.conftest import running
from tests.ports import free_port


def top(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["top", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.fixture
def queue(server: PenstockServer) -> PenstockServer:
    """Ten entries, three under way for 20 s, and nobody's dead letter."""
    server.freeze()
    server.call("XGROUP", "CREATE", "orders", "ship", "0", "MKSTREAM")
    policy = "VISIBILITY 1000 DEADLETTER dead MKSTREAM"
    server.call("XGROUP", "CFGSET", "orders", "ship", *policy.split())
    for number in range(10):
        server.call("XADD", "orders", f"1-{number + 1}", "n", number)
    server.call("XREADGROUP", "GROUP", "ship", "w1", "COUNT", "3", "STREAMS", "orders", ">")
    server.travel(seconds=20)
    return server


def test_once_is_a_table_by_trouble(
    queue: PenstockServer, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = top(capsys, "--once", "--port", str(queue.port))
    lines = [line.split() for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert " ".join(lines[0]) == (
        "stream rate/s length bytes groups lag pending oldest dead sched trouble"
    )
    assert lines[1][:3] == ["orders", "-", "10"]
    assert lines[1][4:] == ["1", "7", "3", "20", "s", "0", "0", "stuck"]
    assert lines[2][:3] == ["dead", "-", "0"]
    assert len(lines) == 3


def test_once_of_groups(queue: PenstockServer, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = top(capsys, "--once", "--groups", "--url", queue.tcp_url)
    assert out.splitlines()[1].split() == [
        "orders", "ship", "1", "7", "3", "20", "s", "0", "0", "1-3", "stuck",
    ]  # fmt: skip


def test_json_has_null_for_what_is_unknown(
    redis_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with redis.Redis(port=redis_port) as client:
        client.xadd("s", {"a": 1}, id="1-1")
        client.xadd("s", {"a": 1}, id="1-2")
        client.xadd("s", {"a": 1}, id="1-3")
        client.xgroup_create("s", "g", "1-1")
        client.xdel("s", "1-2")
    status, out, _ = top(capsys, "--json", "--port", str(redis_port))
    shown = json.loads(out)
    assert status == 0
    assert shown["server"]["product"] == "Redis"
    (stream,) = shown["streams"]
    (group,) = stream["groups"]
    assert group["lag"] is stream["lag"] is None
    assert group["paused"] is group["dead"] is stream["scheduled"] is None
    assert (stream["length"], group["pending"], group["consumers"]) == (2, 0, 0)
    assert group["trouble"] == {"points": 0, "words": []}


def test_json_of_a_penstock(queue: PenstockServer, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = top(capsys, "--json", "--port", str(queue.port))
    stream = json.loads(out)["streams"][0]
    assert stream["stream"] == "orders"
    assert stream["trouble"]["words"] == ["stuck"]
    assert stream["groups"][0]["dead_letters"] == "dead"
    assert stream["groups"][0]["paused"] is False


def test_sorted_by_another_column(
    queue: PenstockServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = top(capsys, "--once", "--sort", "stream", "--port", str(queue.port))
    assert [line.split()[0] for line in out.splitlines()] == ["stream", "dead", "orders"]


def test_no_server_is_one_line_and_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = top(capsys, "--once", "--port", "1")
    assert (status, out) == (1, "")
    assert err.startswith("penstock top: ")
    assert err.count("\n") == 1


def test_names_do_nothing_to_a_terminal(
    server: PenstockServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.call("XADD", b"\xff\x1b[2J", "*", "a", "b")
    _, out, _ = top(capsys, "--once", "--port", str(server.port))
    assert "\\xff\\x1b[2J" in out
    assert "\x1b" not in out


def test_what_a_user_may_not_goes_to_stderr(
    redis_port: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "password").write_text("secret\n")
    with redis.Redis(port=redis_port) as client:
        client.execute_command(
            "ACL", "SETUSER", "few", "reset", "on", ">secret", "~*", "+scan", "+xinfo"
        )
        client.xadd("s", {"a": 1})
    words = ("--user", "few", "--password-file", str(tmp_path / "password"))
    status, out, err = top(capsys, "--once", "--port", str(redis_port), *words)
    assert status == 0
    assert out.splitlines()[1].split()[:4] == ["s", "-", "1", "-"]
    assert sorted(line.split()[-2] for line in err.splitlines()) == ["'info'", "'memory|usage'"]


def test_without_textual_the_screen_is_refused_and_once_works(
    server: PenstockServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("penstock.top.screens")]:
        monkeypatch.delitem(sys.modules, name)
    without(monkeypatch, "textual")
    status, _, err = top(capsys, "--port", str(server.port))
    assert status == 1
    assert 'pip install "penstock[top]"' in err
    assert top(capsys, "--once", "--port", str(server.port))[0] == 0


def test_without_redis_py_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("penstock.top")]:
        monkeypatch.delitem(sys.modules, name)
    without(monkeypatch, "redis")
    status, _, err = top(capsys, "--once")
    assert status == 1
    assert 'pip install "penstock[top]"' in err


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Let *package* be one that is not installed."""
    real = builtins.__import__

    def find(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", find)


def test_other_commands_do_not_import_it() -> None:
    program = (
        "import sys, penstock.command_line as c; c.main(['--help']);"
        "print([m for m in sys.modules if m.startswith(('redis', 'textual', 'penstock.top'))])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.endswith("[]\n")
    assert "  top    shows" in ran.stdout


def test_a_unix_socket_is_reached_by_its_url_or_its_path(
    queue: PenstockServer, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("--url", f"unix://{queue.path}"), ("--socket", str(queue.path))):
        status, out, _ = top(capsys, "--once", *words)
        assert status == 0
        assert out.splitlines()[1].startswith("orders ")


def test_a_server_with_tls_is_reached_if_its_certificate_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificates = Certificates(tmp_path)
    port = free_port()
    options = [f"--tls-{name}" for name in ("cert-file", "key-file", "ca-cert-file")]
    files = [certificates[name] for name in ("server.crt", "server.key", "ca.crt")]
    words = [word for pair in zip(options, files, strict=True) for word in pair]
    with running(
        free_port(), tmp_path, "--tls-port", str(port), "--tls-auth-clients", "no", *words
    ):
        where = ("--once", "--tls", "--host", "localhost", "--port", str(port))
        assert top(capsys, *where, "--cacert", certificates["ca.crt"])[0] == 0
        assert top(capsys, *where, "--insecure")[0] == 0
        status, _, err = top(capsys, *where)
        assert status == 1
        assert "certificate" in err.lower()


@pytest.mark.parametrize(
    ("words", "url", "db"),
    [
        ("", "redis://127.0.0.1:6379", 0),
        ("--url redis://h:1/3", "redis://h:1/3", 3),
        ("--url redis://h:1/3 --db 5", "redis://h:1/3", 5),
        ("--url unix:///run/s?db=2", "unix:///run/s?db=2", 2),
        ("--host ::1 --port 7 --tls", "rediss://[::1]:7", 0),
        ("--port 7", "redis://127.0.0.1:7", 0),
        ("--socket /run/a b", "unix:///run/a%20b", 0),
    ],
)
def test_where_the_server_is(
    words: str, url: str, db: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    argv = words.replace("a b", "a\0b").split()
    options = parser("penstock top").parse_args([word.replace("\0", " ") for word in argv])
    assert address_of(options) == (Address(url), db)


def test_the_environment_has_the_url_that_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://there:7/1")
    assert address_of(parser("top").parse_args([])) == (Address("redis://there:7/1"), 1)
    assert address_of(parser("top").parse_args(["--port", "8"]))[0].url == "redis://127.0.0.1:8"


@pytest.mark.parametrize("words", [["--url", "http://h"], ["--password-file", "/dev/null"]])
def test_what_is_no_address_is_refused(words: list[str]) -> None:
    with pytest.raises(ValueError, match=r"begins with|is empty"):
        address_of(parser("top").parse_args(words))
