"""redis-cli and redis-benchmark work with the server."""

from __future__ import annotations

import subprocess

import pytest
from redis import Redis

from tests.compat.connection import encode
from tests.compat.processes import redis_tool


def cli(port: int, *options: str, typed: bytes = b"") -> str:
    """The output of redis-cli with *options*, and *typed* as its input."""
    return _run([redis_tool("redis-cli"), "-p", str(port), *options], typed)


def _run(command: list[str], typed: bytes = b"") -> str:
    done = subprocess.run(command, input=typed, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout.decode()


@pytest.fixture
def data(port: int) -> None:
    with Redis(port=port) as client:
        client.mset({f"key:{number}": "v" * number for number in range(1, 50)})
        client.rpush("list", *range(100))
        for number in range(1, 40):
            client.xadd("stream", {"f": number}, id=f"{number}-0")


def test_cli_runs_typed_commands(port: int) -> None:
    typed = b'SET k "a \\x41 b"\nGET k\nRPUSH l 1 2 3\nLRANGE l 0 -1\nNOSUCH\nXADD s 1-1 f v\n'
    typed += b"XRANGE s - +\nMULTI\nINCR n\nEXEC\nBLPOP l 0\nXREAD BLOCK 10 STREAMS s $\n"
    out = cli(port, "--no-raw", typed=typed)
    assert '"a A b"' in out
    assert '1) "1"\n2) "2"\n3) "3"' in out
    assert "(error) ERR unknown command 'NOSUCH'" in out
    assert '1) 1) "1-1"\n   2) 1) "f"\n      2) "v"' in out
    assert "QUEUED\n1) (integer) 1" in out
    assert '1) "l"\n2) "1"' in out
    assert out.endswith("(nil)\n")


def test_cli_runs_typed_commands_in_resp3(port: int) -> None:
    typed = b"XADD s 1-1 f v\nXREAD STREAMS s 0\nGET none\nCONFIG GET maxmemory\nHELLO 3\n"
    out = cli(port, "-3", "--no-raw", typed=typed)
    assert '1# "s" =>' in out
    assert "(nil)" in out
    assert '1# "maxmemory" => "0"' in out
    assert '"proto" => (integer) 3' in out


def test_cli_pipe_loads_many_commands(port: int) -> None:
    commands = [encode([b"SET", b"key:%d" % number, b"v"]) for number in range(50_000)]
    commands += [encode([b"XADD", b"s", b"*", b"n", b"%d" % number]) for number in range(10_000)]
    out = cli(port, "--pipe", typed=b"".join(commands))
    assert "errors: 0, replies: 60000" in out
    with Redis(port=port) as client:
        assert client.dbsize() == 50_001
        assert client.xlen("s") == 10_000


def test_cli_pipe_counts_errors_and_accepts_inline_commands(port: int) -> None:
    out = _pipe_with_errors(port)
    assert "errors: 1, replies: 3" in out


def _pipe_with_errors(port: int) -> str:
    command = [redis_tool("redis-cli"), "-p", str(port), "--pipe"]
    typed = b"SET k v\r\nLPUSH k x\r\nGET k\r\n"
    done = subprocess.run(command, input=typed, capture_output=True, timeout=60, check=False)
    return done.stdout.decode()


@pytest.mark.usefixtures("data")
def test_cli_scan_lists_keys(port: int) -> None:
    keys = cli(port, "--scan", "--pattern", "key:*").split()
    assert sorted(keys) == sorted(f"key:{number}" for number in range(1, 50))


@pytest.mark.usefixtures("data")
def test_cli_bigkeys_finds_the_biggest_key_of_each_type(port: int) -> None:
    out = cli(port, "--bigkeys")
    assert "Sampled 51 keys in the keyspace!" in out
    assert "has 100 items" in out
    assert "has 39 entries" in out
    assert """Biggest string found '"key:49"' has 49 bytes""" in out


@pytest.mark.usefixtures("data")
def test_cli_hotkeys_finds_the_key_that_is_used_most(port: int) -> None:
    policy = ("CONFIG", "SET", "maxmemory-policy")
    try:
        cli(port, *policy, "allkeys-lfu", "lfu-log-factor", "0")
        cli(port, "-r", "50", "GET", "key:7")
        out = cli(port, "--hotkeys")
    finally:
        cli(port, *policy, "noeviction", "lfu-log-factor", "10")
    assert "Sampled 51 keys in the keyspace!" in out
    first = next(line for line in out.splitlines() if line.startswith("hot key found with counter"))
    assert "key:7" in first


def test_cli_runs_a_command_from_its_arguments(port: int) -> None:
    assert cli(port, "SET", "k", "v") == "OK\n"
    assert cli(port, "-n", "3", "GET", "k") == "\n"
    assert cli(port, "--raw", "GET", "k") == "v\n"
    assert cli(port, "-x", "SET", "k", typed=b"from stdin") == "OK\n"
    assert cli(port, "--json", "GET", "k").strip() == '"from stdin"'
    assert cli(port, "-r", "3", "INCR", "n").split() == ["1", "2", "3"]
    assert "redis_version:" in cli(port, "INFO", "server")


@pytest.mark.parametrize("option", ["-2", "-3"])
def test_cli_shows_the_messages_of_its_channels(port: int, option: str) -> None:
    command = [redis_tool("redis-cli"), "-p", str(port), option, "SUBSCRIBE", "news", "sport"]
    with (
        Redis(port=port) as client,
        subprocess.Popen(command, stdout=subprocess.PIPE) as listening,
    ):
        assert listening.stdout is not None
        shown = [listening.stdout.readline() for _ in range(6)]
        assert shown == [b"subscribe\n", b"news\n", b"1\n", b"subscribe\n", b"sport\n", b"2\n"]
        assert client.publish("sport", "goal") == 1
        assert [listening.stdout.readline() for _ in range(3)] == [
            b"message\n",
            b"sport\n",
            b"goal\n",
        ]
        listening.terminate()


def test_benchmark_runs_its_tests(port: int) -> None:
    tests = "PING_INLINE,PING_MBULK,SET,GET,INCR,LPUSH,RPUSH,LPOP,RPOP,LRANGE_100,MSET"
    command = [redis_tool("redis-benchmark"), "-p", str(port), "-n", "2000", "-c", "20", "-P", "4"]
    out = _run([*command, "-q", "-t", tests])
    assert out.count("requests per second") >= 11
    assert "Error" not in out
    xadd = _run([*command, "-q", "-r", "1000", "XADD", "s", "*", "n", "__rand_int__"])
    assert "requests per second" in xadd
    with Redis(port=port) as client:
        assert client.xlen("s") == 2000


@pytest.mark.usefixtures("data")
def test_cli_memkeys_finds_the_key_of_each_type_that_takes_most(port: int) -> None:
    out = cli(port, "--memkeys")
    assert "Sampled 51 keys in the keyspace!" in out
    for name in ("list", "stream", "key:4"):
        assert f"""found '"{name}""" in out


def test_cli_stat_shows_a_line_each_time(port: int) -> None:
    lines = _first_lines([redis_tool("redis-cli"), "-p", str(port), "--stat", "-i", "0.01"], 3)
    assert lines[0].startswith("------- data ------")
    assert lines[1].split() == ["keys", "mem", "clients", "blocked", "requests", "connections"]
    assert lines[2].split()[0] == "0"


def test_cli_latency_shows_how_long_answers_take(port: int) -> None:
    shortest, longest, mean, samples = cli(port, "--latency", "-i", "0.05", "--raw").split()
    assert float(shortest) <= float(mean) <= float(longest)
    assert int(samples) > 0


def test_cli_monitor_shows_what_others_run(port: int) -> None:
    command = [redis_tool("redis-cli"), "-p", str(port), "MONITOR"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as monitor:
        assert monitor.stdout is not None
        assert monitor.stdout.readline() == "OK\n"
        cli(port, "ECHO", "x y")
        lines = iter(monitor.stdout.readline, "")
        assert next(line for line in lines if "ECHO" in line).endswith('] "ECHO" "x y"\n')
        monitor.terminate()


def test_cli_help_knows_every_command_that_the_server_documents(port: int) -> None:
    for words in ("SLOWLOG GET", "CLIENT TRACKING", "LOLWUT"):
        out = cli(port, typed=f"HELP {words}\n".encode())
        assert f"{words}\x1b[0m" in out  # in bold type
        assert "summary:" in out
        assert "since:" in out


def test_cli_reads_documentation_of_every_command(port: int) -> None:
    with Redis(port=port) as client:
        assert len(client.execute_command("COMMAND DOCS")) == client.command_count()


def _first_lines(command: list[str], count: int) -> list[str]:
    """The first lines that *command* prints; then it is ended."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(count)]
        running.terminate()
    return lines
