"""Servers, and one Spark session for all tests that need one.

Without pyspark or Java these tests are skipped, with the reason; in CI that is a failure.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis

from tests.compat.processes import AT_REST, ServerProcess, penstock_command, redis_tool
from tests.ports import free_port
from tests.spark.clock import Clock
from tests.spark.clustered import Cluster
from tests.spark.jvm import QUICK
from tests.spark.zygote import interpreter_with_zygote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# Settings for small data: few partitions, and no code generation, which pays off for large data
# only. The checkpoint manager is that of ``run`` and ``archive``.
SMALL_DATA = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing"
        ".FileSystemBasedCheckpointFileManager"
    ),
}


def missing() -> str:
    """What is missing for these tests, or an empty text."""
    if os.environ.get("PENSTOCK_UNCOMPILED"):
        return "the Spark side has no compiled modules; the compiled leg tests it"
    for module in ("pyspark", "pyarrow", "numpy", "redis", "hiredis"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed (pip install '.[spark]')"
    return "" if shutil.which("java") else "Java is not installed (apt-get install default-jre)"


class Skipped(pytest.Module):
    """A test module that cannot be imported here."""

    def collect(self) -> list[pytest.Item]:
        is_failure = os.environ.get("CI") and not os.environ.get("PENSTOCK_UNCOMPILED")
        (pytest.fail if is_failure else pytest.skip)(missing())


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> object:
    """Skip the modules of this folder, without importing them, if something is missing."""
    return Skipped.from_parent(parent, path=module_path) if missing() else None


@pytest.fixture(scope="session", params=["penstock", "redis"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """Penstock, and then redis-server: the Spark side must work with both."""
    ours = request.param == "penstock"
    command = penstock_command() if ours else [redis_tool("redis-server")]
    process = ServerProcess(command, tmp_path_factory.mktemp(request.param), *AT_REST)
    yield process
    process.stop()


@pytest.fixture
def client(server: ServerProcess) -> Iterator[redis.Redis]:
    """A client of an empty server."""
    with redis.Redis(port=server.port) as client:
        client.flushall()
        yield client
        client.flushall()


@pytest.fixture
def at(server: ServerProcess) -> dict[str, str]:
    """The options with the server's address."""
    return {"host": "127.0.0.1", "port": str(server.port)}


@pytest.fixture(scope="module")
def replica(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of an empty replica, whose primary does not exist."""
    folder = tmp_path_factory.mktemp("replica")
    options = "--replicaof", "127.0.0.1 1", *AT_REST
    process = ServerProcess([redis_tool("redis-server")], folder, *options)
    yield process.port
    process.stop()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all retries."""
    clock = Clock()
    monkeypatch.setattr("pyspark_penstock.connect.retry.Retry.now", clock.now)
    monkeypatch.setattr("pyspark_penstock.connect.retry.Retry.sleep", clock.sleep)
    return clock


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session for all tests, because starting a JVM takes seconds."""
    from pyspark_penstock.jobs import quick_start  # noqa: PLC0415  (needs pyspark)
    from pyspark_penstock.jobs.session import session  # noqa: PLC0415

    settings = SMALL_DATA | {"spark.driver.defaultJavaOptions": QUICK}
    folder = tmp_path_factory.mktemp("zygote")
    with interpreter_with_zygote(folder, quick_start.interpreter()) as interpreter:
        with pytest.MonkeyPatch.context() as patch:  # not for programs that tests start
            patch.setenv("PYSPARK_PYTHON", interpreter)
            started = session("tests", master="local[2]", settings=settings)
        yield started
        started.stop()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    subprocess.run(
        [*words.split(), "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
         str(folder / "key.pem"), "-out", str(folder / "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def tls_port(certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The TLS port of a redis-server."""
    port = free_port()
    options = {
        "--tls-port": str(port),
        "--tls-cert-file": str(certificate / "cert.pem"),
        "--tls-key-file": str(certificate / "key.pem"),
        "--tls-auth-clients": "no",
    }
    words = [word for option in options.items() for word in option]
    process = ServerProcess(
        [redis_tool("redis-server")], tmp_path_factory.mktemp("redis-tls"), *words, *AT_REST
    )
    process.control.call(b"XADD", b"s", b"*", b"i", b"1")
    yield port
    process.stop()


@pytest.fixture(scope="session")
def cluster_of_six(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three primaries, and a replica for each."""
    cluster = Cluster([redis_tool("redis-server")], tmp_path_factory.mktemp("six"))
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(cluster_of_six: Cluster) -> Cluster:
    """The cluster of six, whole and empty."""
    cluster_of_six.mend()
    cluster_of_six.empty()
    return cluster_of_six
