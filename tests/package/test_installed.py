"""The wheel in a fresh environment: what a user does with it, by the user's own means."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

import penstock
from tests.compat.processes import ServerProcess, redis_tool
from tests.package.environment import NOBODY_ID, Environment, as_nobody, made_wheel, printed
from tests.package.test_launch import BROKEN, shadows


@pytest.fixture(scope="module")
def data(outside: Path) -> Path:
    """A folder that the server may write to."""
    folder = outside / "data"
    folder.mkdir()
    if os.getuid() == 0:
        os.chown(folder, NOBODY_ID, NOBODY_ID)
    return folder


@pytest.fixture(scope="module")
def server(installed: Environment, data: Path) -> Iterator[ServerProcess]:
    """``penstock serve`` from the root folder, by a user without a home who may not write there."""
    process = ServerProcess([*as_nobody(), installed.command("penstock"), "serve"], data)
    yield process
    process.stop()


def test_redis_cli_works_with_it(server):
    cli = [redis_tool("redis-cli"), "-p", str(server.port)]
    assert printed(*cli, "XADD", "orders", "1-1", "item", "kettle").stdout == "1-1\n"
    assert printed(*cli, "XLEN", "orders").stdout == "1\n"


def test_redis_py_works_with_it(server):
    with redis.Redis(port=server.port) as client:
        client.xadd("jobs", {"n": 1}, id="5-1")
        client.xgroup_create("jobs", "all", id="0")
        assert client.xreadgroup("all", "ann", {"jobs": ">"}) == [
            [b"jobs", [(b"5-1", {b"n": b"1"})]]
        ]
        assert client.eval("return redis.call('XLEN', KEYS[1])", 1, "jobs") == 1


def test_check_reads_what_it_has_saved(installed, server, data):
    with redis.Redis(port=server.port) as client:
        client.set("kept", "1")
        client.save()
    done = printed(*as_nobody(), installed.command("penstock"), "check", str(data / "dump.rdb"))
    assert done.returncode == 0, done.stderr
    assert str(data / "dump.rdb") in done.stdout


@pytest.mark.parametrize("command", [["penstock", "serve"], ["python", "-m", "penstock"]])
def test_it_names_itself_and_is_compiled(installed, command):
    done = printed(*as_nobody(), installed.command(command[0]), *command[1:], "--version")
    assert f"build=compiled penstock={penstock.__version__}" in done.stdout, done.stderr


def test_usage_texts_name_what_the_user_has_called(installed):
    for words in (["penstock"], ["python", "-m", "penstock"]):
        called = " ".join(words)
        command = [installed.command(words[0]), *words[1:]]
        assert printed(*command, "--help").stdout.startswith(f"Usage: {called} serve ")
        assert printed(*command, "serve", "--help").stdout.startswith(f"Usage: {called} serve ")
        assert printed(*command, "check", "--help").stdout.startswith(f"usage: {called} check ")
        wrong = printed(*command, "sreve")
        assert (wrong.returncode, wrong.stderr) == (
            1, f"penstock: 'sreve' is no command and no file: see {called} --help\n",
        )  # fmt: skip


# ------------------------------------------------------------------ the names of packages


def test_the_server_has_no_names_in_the_environment(installed):
    names = {path.name.split("-")[0] for path in installed.packages.iterdir()}
    assert {"penstock", "pyspark_penstock"} <= names
    assert not names & {"server", "storage", "protocol", "octets", "build_core", "tests", "bench"}
    code = "import importlib.util as u; print(u.find_spec('server'), u.find_spec('storage'))"
    assert printed(installed.command("python"), "-P", "-c", code).stdout == "None None\n"


def test_an_installed_package_named_server_stays_what_it_is_and_is_not_imported(
    installed, tmp_path
):
    for name in ("server", "storage", "protocol", "octets"):
        (installed.packages / f"{name}.py").write_text(BROKEN.format(name=name))
    try:
        done = printed(
            installed.command("penstock"), "--version", PYTHONPATH=str(shadows(tmp_path))
        )
        assert done.stdout.startswith("Penstock server v="), done.stderr
        theirs = printed(installed.command("python"), "-P", "-c", "import penstock.alias, server")
        assert "the wrong server was imported" in theirs.stderr
    finally:
        for name in ("server", "storage", "protocol", "octets"):
            (installed.packages / f"{name}.py").unlink()


def test_server_command_starts_it_from_a_program_that_found_it_by_itself(installed, tmp_path):
    """As tests of others do: their folders are on sys.path, and the current folder is theirs."""
    shadows(tmp_path)
    code = (
        "import subprocess, sys; from penstock.application import server_command;"
        "sys.exit(subprocess.run(server_command('--version')).returncode)"
    )
    done = subprocess.run(
        [installed.command("python"), "-P", "-c", code],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout[:18]) == (0, "Penstock server v="), done.stderr


# ------------------------------------------------------------------ the alias


@pytest.fixture
def alias(installed: Environment, outside: Path) -> Iterator[Path]:
    folder = outside / "it's a bin"
    assert printed(installed.command("penstock"), "alias", str(folder)).returncode == 0
    yield folder / "redis-server"
    (folder / "redis-server").unlink()


def test_the_alias_serves_as_redis_server_does(alias, data):
    process = ServerProcess([*as_nobody(), str(alias)], data, "--databases", "3")
    assert process.control.call(b"CONFIG", b"GET", b"databases") == (
        "*", [("$", b"databases"), ("$", b"3")],
    )  # fmt: skip
    process.stop()


def test_the_alias_names_itself(alias):
    assert printed(str(alias), "--help").stdout.startswith("Usage: redis-server ")


def test_the_alias_can_be_written_again(alias, installed):
    again = printed(installed.command("penstock"), "alias", str(alias.parent))
    assert (again.returncode, again.stdout) == (0, f"{alias}\n")


def test_a_real_redis_server_is_not_replaced(installed, tmp_path):
    real = tmp_path / "redis-server"
    real.write_bytes(b"\x7fELF")
    done = printed(installed.command("penstock"), "alias", str(tmp_path))
    assert (done.returncode, real.read_bytes()) == (1, b"\x7fELF")
    assert done.stderr == f"penstock: {real}: something else is there, and stays\n"
    assert list(tmp_path.iterdir()) == [real]


def test_neither_is_what_a_link_leads_to(installed, alias, tmp_path):
    link = tmp_path / "redis-server"
    link.symlink_to(alias)
    assert printed(installed.command("penstock"), "alias", str(tmp_path)).returncode == 1
    assert link.is_symlink()


# ------------------------------------------------------------------ removal


def test_uninstalling_leaves_nothing_and_the_alias_says_so(outside, tmp_path):
    environment = Environment(outside / "short-lived")
    before = set(environment.folder.rglob("*"))
    environment.pip("install", "--no-deps", str(made_wheel()))
    printed(environment.command("penstock"), "check", "/dev/null")  # writes bytecode
    printed(environment.command("penstock"), "alias", str(tmp_path))
    environment.pip("uninstall", "--yes", "penstock")
    assert set(environment.folder.rglob("*")) == before
    done = printed(str(tmp_path / "redis-server"), "--version")
    assert done.returncode == 127
    assert "Run penstock alias again" in done.stderr
