"""The arguments that the command line accepts and refuses."""

from __future__ import annotations

import pytest

from pyspark_penstock.cli.arguments import (
    COMMANDS,
    parser,
    server_of,
    server_options,
    start,
    time_ms,
)
from pyspark_penstock.errors import OptionError


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    assert COMMANDS[command][0] in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        [], ["fly"], ["archive", "orders"], ["archive", "a", "--to", "d", "--keep", "long"],
        ["run", "j.toml", "--once", "--continuous"], ["run", "j.toml", "--from", "yesterday"],
        ["load", "f.csv", "--stream", "s", "--map", "novalue"],
        ["archive", "a", "--to", "d", "--every", "0s"],
    ],
)  # fmt: skip
def test_wrong_usage_exits_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(words)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_times_are_utc_unless_they_have_an_offset() -> None:
    assert time_ms("1763000062499") == 1_763_000_062_499
    assert time_ms("1970-01-02") == 86_400_000
    assert time_ms("1970-01-01T01:00:00+01:00") == 0
    assert start("latest") == "latest"
    assert start("1970-01-01T00:00:01") == "1000"


def test_durations_have_units() -> None:
    given = parser().parse_args(["archive", "a", "--to", "d", "--keep", "24h", "--every", "10m"])
    assert (given.keep, given.every) == (86_400_000, 600_000)


def test_server_is_the_same_as_the_option_bootstrap_servers() -> None:
    given = parser().parse_args(["health", "--server", "h:1", "--option", "tls=true"])
    assert server_options(given) == {"bootstrap.servers": "h:1", "tls": "true"}
    words = ["health", "--server", "h:1", "--option", "bootstrap.servers=h:2"]
    with pytest.raises(OptionError, match="say the same"):
        server_options(parser().parse_args(words))


@pytest.mark.parametrize("option", ["db=none", "usrname=ann", "tls.verify=perhaps"])
def test_an_invalid_server_option_is_refused_before_spark_starts(option: str) -> None:
    with pytest.raises(OptionError, match=option.partition("=")[0]):
        server_of(parser().parse_args(["query", "SELECT 1", "--option", option]))


def test_the_program_has_a_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("penstock ")
