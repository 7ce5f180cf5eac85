"""The words after the image's name, and its environment: as redis's image takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.image.container import Runner

SECRET = 'a "quoted" \\ $word'


def test_without_words_it_serves_every_address_at_6379(run: Runner) -> None:
    with run() as container:
        container.until_ready()
        assert container.cli("config", "get", "bind").splitlines() == ["bind", "* -::*"]
        assert container.cli("config", "get", "protected-mode").splitlines()[1] == "no"
        assert container.cli("config", "get", "dir").splitlines()[1] == "/data"


@pytest.mark.parametrize(
    "words",
    [
        ("--port", "7000"),
        ("redis-server", "--port", "7000"),
        ("penstock", "serve", "--port", "7000"),
        ("redis-server", "--port 7000"),
    ],
)
def test_options_are_the_servers_and_it_runs_as_a_user(run: Runner, words: tuple[str, ...]) -> None:
    with run(*words) as container:
        container.until_ready("-p", "7000")
        assert container.user() == 999


def test_the_first_process_is_the_server_itself(run: Runner) -> None:
    with run("--timeout", "7") as container:
        container.until_ready()
        assert container.read("/proc/1/cmdline").split("\0")[-4:] == [
            "redis-server", "--timeout", "7", "",
        ]  # fmt: skip


@pytest.mark.parametrize("words", [("/etc/my.conf",), ("redis-server", "/etc/my.conf")])
def test_a_configuration_overrides_the_images_defaults(
    run: Runner, tmp_path: Path, words: tuple[str, ...]
) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text("bind 127.0.0.1\nprotected-mode yes\ntimeout 5\nmaxclients 50\n")
    conf.chmod(0o644)
    with run(*words, "--timeout", "7", options=("-v", f"{conf}:/etc/my.conf:ro")) as container:
        container.until_ready()
        got = container.cli("config", "get", "bind", "protected-mode", "timeout", "maxclients")
        assert sorted(got.splitlines()[1::2]) == ["127.0.0.1", "50", "7", "yes"]


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("sh", "-c", "id -u; pwd; umask"), "0\n/data\n0022\n"),
        (("bash", "-c", "echo $0", "x y"), "x y\n"),
        (("echo", "hello  world"), "hello  world\n"),
    ],
)
def test_other_commands_run_as_they_are(run: Runner, words: tuple[str, ...], printed: str) -> None:
    assert run.output(*words).stdout == printed


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (("redis-server", "--version"), "Redis server v="),
        (("--version",), "Redis server v="),
        (("redis-cli", "--version"), "redis-cli "),
        (("redis-benchmark", "--version"), "redis-benchmark "),
        (("penstock", "--version"), "Penstock server v="),
    ],
)
def test_the_names_that_tools_call_are_there(
    run: Runner, words: tuple[str, ...], begins: str
) -> None:
    done = run.output(*words)
    assert (done.returncode, done.stdout.startswith(begins)) == (0, True), done


def test_the_tools_of_redis_talk_to_it(run: Runner) -> None:
    with run() as container:
        container.until_ready()
        piped = container.run("sh", "-c", r"printf 'SET a 1\r\nGET a\r\n' | redis-cli --pipe")
        assert "errors: 0, replies: 2" in piped.stdout
        measured = container.run("redis-benchmark", "-q", "-n", "100", "-t", "ping,set")
        assert (measured.returncode, "requests per second" in measured.stdout) == (0, True)


def test_redis_check_aof_looks_into_a_log(run: Runner) -> None:
    with run("--appendonly", "yes") as container:
        container.until_ready().cli("set", "key", "value")
        for tool in ("redis-check-aof", "redis-check-rdb", "penstock check"):
            checked = container.run(*tool.split(), "/data/appendonlydir")
            assert (checked.returncode, "whole" in checked.stdout) == (0, True), checked


def test_a_command_that_is_not_there_fails_as_in_docker(run: Runner) -> None:
    assert run.output("no-such-command").returncode == 127


def test_the_log_warns_of_nothing(run: Runner) -> None:
    with run() as container:
        container.until_ready()
        assert [line for line in container.log().splitlines() if " * " not in line] == []
        assert "No configuration" not in container.log()


def test_metrics_are_served_where_a_port_is_given_and_nowhere_else(run: Runner) -> None:
    with run("--metrics-port", "9121") as container:
        container.until_ready()
        assert container.cli("config", "get", "metrics-bind").splitlines()[1] == "* -::*"
        asked = (
            "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9121/metrics').status)"
        )
        assert container.run("/opt/penstock/bin/python", "-c", asked).stdout == "200\n"
    with run() as container:
        container.until_ready()
        assert container.cli("config", "get", "metrics-port").splitlines()[1] == "0"


# ---------------------------------------------------------------------- passwords and flags


def hidden(container_words: str) -> bool:
    """Whether the words and the environment of a process do not show the password."""
    return "quoted" not in container_words


def test_a_password_comes_from_the_environment_and_is_shown_to_nobody(run: Runner) -> None:
    with run(options=("-e", f"REDIS_PASSWORD={SECRET}")) as container:
        container.until_ready("--no-auth-warning", "-a", SECRET)
        assert container.cli("ping").startswith("NOAUTH")
        assert hidden(container.read("/proc/1/cmdline"))
        assert hidden(container.run("cat", "/proc/1/environ", user="999").stdout)
        assert hidden(container.log())


def test_a_password_comes_from_a_file_that_only_root_may_read(run: Runner, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o400)
    mounted = ("-v", f"{secret}:/run/secrets/redis:ro", "-e", "REDIS_PASSWORD=other")
    with run(options=(*mounted, "-e", "REDIS_PASSWORD_FILE=/run/secrets/redis")) as container:
        container.until_ready("--no-auth-warning", "-a", SECRET)


@pytest.mark.parametrize(
    ("options", "words", "why"),
    [
        (("REDIS_PASSWORD_FILE=/none",), (), "REDIS_PASSWORD_FILE cannot be read"),
        (("REDIS_PASSWORD_FILE=/dev/null",), (), "names an empty file"),
        (("REDIS_PASSWORD=a\nb",), (), "more than one line"),
        (("REDIS_PASSWORD=a",), ("-",), "cannot both be"),
    ],
)
def test_a_server_whose_password_cannot_be_had_does_not_start(
    run: Runner, options: tuple[str, ...], words: tuple[str, ...], why: str
) -> None:
    done = run.output(*words, options=tuple(word for o in options for word in ("-e", o)))
    assert done.returncode == 1
    assert why in done.stderr
    assert "Ready" not in done.stdout


def test_an_empty_password_is_none(run: Runner) -> None:
    with run(options=("-e", "REDIS_PASSWORD=")) as container:
        container.until_ready()


@pytest.mark.parametrize("variable", ["REDIS_ARGS", "VALKEY_EXTRA_FLAGS"])
def test_more_options_come_from_the_environment(run: Runner, variable: str) -> None:
    with run(options=("-e", f"{variable}=--maxclients 50 --timeout 7")) as container:
        container.until_ready()
        assert container.cli("config", "get", "maxclients").splitlines()[1] == "50"
        assert container.cli("config", "get", "timeout").splitlines()[1] == "7"
