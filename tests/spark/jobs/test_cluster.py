"""A job that spark-submit runs on a standalone cluster of a master, a worker and two executors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from json import JSONDecodeError
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import redis

from tests.ports import free_port
from tests.spark.documented import PIPELINE, block
from tests.spark.environment import SPARK_HOME, Environment
from tests.spark.jvm import QUICK
from tests.spark.stored import xrange

START_S = 180.0
JOB_S = 240.0
ENTRIES = 25_000  # enough for more than one task
JAVA = f"{QUICK} -XX:+UseSerialGC"  # the test starts five JVMs


def clean_environment() -> dict[str, str]:
    """An environment without PYTHONPATH, in which the package's source tree is not found."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    settings = {"PYSPARK_PYTHON": sys.executable, "JDK_JAVA_OPTIONS": JAVA}
    return {**kept, **settings, "SPARK_LOCAL_IP": "127.0.0.1"}


@contextmanager
def process(log: Path, *words: str) -> Iterator[None]:
    """A process of the cluster; it is ended with the test."""
    given = {**clean_environment(), "SPARK_DAEMON_MEMORY": "256m"}
    with log.open("wb") as output:
        started = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, env=given)
        try:
            yield
        finally:
            started.terminate()
            started.wait()


def state(page: int) -> dict[str, Any]:
    """The state on the master's page, or an empty dict until the page is ready."""
    try:
        with urlopen(f"http://127.0.0.1:{page}/json/") as answer:
            return dict(json.load(answer))
    except (OSError, JSONDecodeError):
        return {}


def start_cluster(parts: ExitStack, folder: Path) -> tuple[str, int]:
    """Start a master and a worker of two cores. Returns the master's address and page."""
    port, page = free_port(), free_port()
    java = (str(SPARK_HOME / "bin" / "spark-class"), "org.apache.spark.deploy")
    address = ("--host", "127.0.0.1", "--webui-port")
    master = (java[0], f"{java[1]}.master.Master", *address, str(page), "--port", str(port))
    parts.enter_context(process(folder / "master.log", *master))
    worker = (java[0], f"{java[1]}.worker.Worker", *address, "0", "--cores", "2", "--memory", "2g")
    url = f"spark://127.0.0.1:{port}"
    words = (*worker, "--work-dir", str(folder / "work"), url)
    parts.enter_context(process(folder / "worker.log", *words))
    deadline = time.monotonic() + START_S
    while state(page).get("aliveworkers") != 1:
        if time.monotonic() > deadline:
            pytest.fail((folder / "master.log").read_text(), pytrace=False)
        time.sleep(0.2)
    return url, page


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, int]]:
    with ExitStack() as parts:
        yield start_cluster(parts, tmp_path)


def submit(url: str, folder: Path, port: int) -> list[dict[str, Any]]:
    """Run the documented command, without the installation, and return the JSON that it prints.

    Only the driver's interpreter has the package, and not the executors'.
    """
    driver = Environment.make(folder / "driver", package=True)
    executor = Environment.make(folder / "executor", package=False)
    install, *commands = block(PIPELINE, 'pip install ".[spark]"').splitlines()
    assert install.startswith("pip")
    text = "\n".join(commands).replace("spark://host:7077", url)
    small = "spark-submit --executor-memory 512m --executor-cores 1 --conf spark.ui.enabled=false"
    text = text.replace("redis:6379", f"127.0.0.1:{port} --json").replace("spark-submit", small)
    environment = clean_environment() | driver.activated() | {"PYSPARK_PYTHON": executor.python}
    done = subprocess.run(
        ["sh", "-e", "-c", text], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=JOB_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("server", ["penstock"], indirect=True)
def test_a_pipeline_runs_on_two_executors(
    cluster: tuple[str, int], server: Any, client: redis.Redis, tmp_path: Path
) -> None:
    url, page = cluster
    pipe = client.pipeline(transaction=False)
    for n in range(ENTRIES):
        pipe.xadd("in", {"n": n}, id=f"{n + 1}-0")
    pipe.execute()
    (tmp_path / "job.toml").write_text(
        f'checkpoint = "{tmp_path}/checkpoint"\n'
        '[source.numbers]\nsubscribe = "in"\nstartingOffsets = "earliest"\nschema = "n int"\n'
        'minPartitions = 2\n[sql]\ntext = "SELECT n FROM numbers"\n[sink]\nstream = "out"\n'
        "[trigger]\nonce = true\n"
    )
    events = submit(url, tmp_path, server.port)
    batch, sink, end = events
    assert [event["event"] for event in events] == ["batch", "sink", "end"]
    assert batch["entries"] == sink["rows_written"] == end["entries"] == ENTRIES
    assert batch["bytes_read"] > ENTRIES * len("1-0n0")  # as executors have counted
    found = sorted(int(fields[b"n"]) for _, fields in xrange(client, "out"))
    assert found == list(range(ENTRIES))
    (application,) = state(page)["completedapps"]
    assert application["state"] == "FINISHED"
    assert len(list((tmp_path / "work").rglob("stderr"))) == 2
