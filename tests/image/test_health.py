"""The health check: asks where the server listens, and any reply but -LOADING is health."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.certificates import Certificates
from tests.image.container import Container, Runner, until

TLS = ("--port", "0", "--tls-port", "7001", "--tls-cert-file", "/tls/server.crt",
       "--tls-key-file", "/tls/server.key")  # fmt: skip

ALWAYS_LOADING = """
import socket
listening = socket.create_server(("127.0.0.1", 6379))
while True:
    sock, _ = listening.accept()
    sock.sendall(b"-LOADING the dataset\\r\\n")
"""


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--port", "7000"),
        ("--requirepass", "secret"),
        ("--user", "default", "off"),
        ("--bind", "-192.0.2.1", "127.0.0.1"),
        ("--port", "0", "--unixsocket", "/data/socket"),
        ("--port", "0", "--unixsocket", "socket"),
        ("penstock", "serve", "--port", "7000"),
    ],
)
def test_it_follows_the_options(run: Runner, words: tuple[str, ...]) -> None:
    with run(*words) as container:
        container.until_healthy()


def test_it_follows_the_file_and_what_that_includes(run: Runner, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "my.conf").write_text("port 1\ninclude /conf/more.conf\nrequirepass a\n")
    (tmp_path / "more.conf").write_text("port 7000\n")
    with run("/conf/my.conf", options=("-v", f"{tmp_path}:/conf")) as container:
        container.until_healthy()


@pytest.mark.parametrize("variable", ["REDIS_PASSWORD=a", "REDIS_ARGS=--port 7000"])
def test_it_follows_the_environment(run: Runner, variable: str) -> None:
    with run(options=("-e", variable)) as container:
        container.until_healthy()


@pytest.fixture
def tls(certificates: Certificates) -> tuple[str, str]:
    """The options that mount the certificates."""
    certificates.folder.chmod(0o755)
    for path in certificates.folder.iterdir():
        path.chmod(0o644)
    return ("-v", f"{certificates.folder}:/tls:ro")


@pytest.mark.parametrize(
    ("authority", "asks"), [("ca", "yes"), ("stranger", "yes"), ("stranger", "no")]
)
def test_it_follows_tls_even_if_the_server_does_not_take_its_certificate(
    run: Runner, tls: tuple[str, str], authority: str, asks: str
) -> None:
    words = (*TLS, "--tls-ca-cert-file", f"/tls/{authority}.crt", "--tls-auth-clients", asks)
    with run(*words, options=tls) as container:
        container.until_healthy()
        if authority == "ca":
            assert " # " not in container.log()  # no error of TLS


def test_a_server_that_runs_a_long_script_lives(run: Runner) -> None:
    with run("--busy-reply-threshold", "1") as container:
        container.until_ready()
        container.engine.do(
            "exec", "--detach", container.name, "redis-cli", "eval", "while true do end", "0"
        )
        until(lambda: container.cli("ping").startswith("BUSY"), container.log)
        assert container.health() is None


def test_a_server_that_hangs_is_unhealthy_until_it_goes_on(run: Runner) -> None:
    with run() as container:
        container.until_healthy()
        container.engine.do("kill", "--signal", "STOP", container.name)
        assert container.health() == "it does not answer"
        container.engine.do("kill", "--signal", "CONT", container.name)
        assert container.health() is None


def test_a_server_that_loads_its_data_is_not_healthy_yet(run: Runner) -> None:
    """Loading a test's data takes no time, so what stands for the server does nothing else."""
    with run("python3", "-c", ALWAYS_LOADING, "launch.py", "redis-server") as container:
        until(lambda: container.health() == "it loads its data", container.log)


def test_without_a_server_there_is_no_health(run: Runner) -> None:
    with run("sleep", "1000") as container:
        assert container.health() == "no server runs"


def test_docker_itself_comes_to_the_same_result(run: Runner) -> None:
    def status(container: Container) -> str:
        health: dict[str, str] = container.engine.inspect(container.name)["State"]["Health"]
        return health["Status"]

    with run(options=("--health-interval=1s", "--health-retries=1")) as container:
        until(lambda: status(container) == "healthy", container.log)
        container.engine.do("kill", "--signal", "STOP", container.name)
        until(lambda: status(container) == "unhealthy", container.log)
        results = container.engine.inspect(container.name)["State"]["Health"]["Log"]
        assert "it does not answer" in json.dumps(results)
