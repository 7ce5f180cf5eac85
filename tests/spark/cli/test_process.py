"""The program as a process: it starts Spark, and ends cleanly after a signal."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis

from tests.spark.documented import PIPELINE, README, SPARK, block
from tests.spark.environment import Environment
from tests.spark.jvm import QUICK
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from tests.compat.processes import ServerProcess

ROOT = Path(__file__).parents[3]
END_S = 600.0
# A process of PySpark may find the JVM gone before it is killed. The kill may cut what it prints.
PYSPARK = r"(?:/pyspark/(?:\w+/)*|/python3\.\d+/)\w+\.py"
HARMLESS = re.compile(
    r".*incubator modules.*|Traceback \(most recent call last\):|During handling of the above .*"
    rf'|  File "(.*{PYSPARK}|<frozen runpy>)", line .*|    .*'
    r"|(BrokenPipe|ConnectionReset|EOF)Error.*|"
)
JOB = """
checkpoint = "checkpoint"
[source.numbers]
subscribe = "in"
startingOffsets = "earliest"
schema = "n int"
group = "spark"
[sql]
text = "SELECT n FROM numbers"
[sink]
stream = "out"
"""


@pytest.mark.parametrize("server", ["penstock"], indirect=True)
def test_a_signal_ends_a_pipeline_after_its_batch(
    server: ServerProcess, client: redis.Redis, tmp_path: Path
) -> None:
    """Spark gets only settings that make it faster, and no interpreter, address or path."""
    for n in range(3):
        client.xadd("in", {"n": n})
    (tmp_path / "job.toml").write_text(JOB)
    program = (sys.executable, "-c", IN_PATH + MAIN, str(ROOT))
    words = (
        *program, "run", "job.toml", "--json", "--server", f"127.0.0.1:{server.port}",
        "--conf", f"spark.driver.defaultJavaOptions={QUICK}",
    )  # fmt: skip
    with subprocess.Popen(
        words,
        cwd=tmp_path,
        env=plain_environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        printed, complaints = process.communicate(timeout=END_S)
    assert process.returncode == 0
    assert (first["event"], first["entries"]) == ("batch", 3)
    assert json.loads(printed.splitlines()[-1])["entries"] == 3
    assert harmful(complaints) == []
    (group,) = client.xinfo_groups("in")
    assert (group["name"], group["lag"]) == (b"spark", 0)


def harmful(complaints: str) -> list[str]:
    """Those lines of what a program said in its errors that are about more than the JVM's end."""
    whole = complaints[: complaints.rfind("\n") + 1]
    return [line for line in whole.splitlines() if not HARMLESS.fullmatch(line)]


def test_only_processes_of_pyspark_may_find_the_jvm_gone() -> None:
    packages = '  File "/x/lib/python3.11/site-packages/'
    lost = [
        "Traceback (most recent call last):",
        '  File "<frozen runpy>", line 198, in _run_module_as_main',
        packages + 'pyspark/sql/streaming/python_streaming_source_runner.py", line 293, in main',
        "    outfile.flush()",
        '  File "/x/lib/python3.11/socket.py", line 724, in write',
        "    return self._sock.send(b)",
        "BrokenPipeError: [Errno 32] Broken pipe",
        "",
        "During handling of the above exception, another exception occurred:",
    ]
    ours = packages + 'pyspark_penstock/read/source.py", line 3, in commit'
    cut = packages + "pys"
    assert harmful("\n".join([*lost, ours, "ValueError: a fault", cut])) == [
        ours,
        "ValueError: a fault",
    ]


IN_PATH = """\
import sys
sys.path.insert(0, sys.argv.pop(1))  # as if it were installed
"""
MAIN = """\
from pyspark_penstock.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
UNTIL_ALL_IS_READ = """
for query in spark.streams.active:
    query.processAllAvailable()
    query.stop()
"""


def plain_environment() -> dict[str, str]:
    """An environment without variables for Spark and Python."""
    own = ("PYSPARK", "SPARK", "PYTHON", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}


@pytest.mark.parametrize("server", ["penstock"], indirect=True)
def test_the_documented_programs_run_in_an_environment_that_is_not_activated(
    server: ServerProcess, client: redis.Redis, tmp_path: Path
) -> None:
    """Only the folder and the server's address differ from the docs.

    A ``python3`` in PATH does not have the package.
    """
    for n in range(3):
        client.xadd("orders", {"item": "cup", "count": n, "qty": n})
    client.xadd("jobs", {"task": "sweep"})
    programs = [
        block(SPARK, "import pyspark_penstock").replace("/var/lib/spark", str(tmp_path)),
        block(SPARK, "jobs = (spark.readStream"),
        block(PIPELINE, "orders = spark.read"),
        block(README, "orders = (spark.readStream"),
    ]
    (tmp_path / "program.py").write_text("".join(text + UNTIL_ALL_IS_READ for text in programs))
    environment = Environment.make(tmp_path / "environment", package=True)
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.sql.shuffle.partitions 1\nspark.ui.enabled false\nspark.master local[2]\n"
    )
    settings = {
        "PENSTOCK_SERVERS": f"127.0.0.1:{server.port}", "PATH": "/usr/bin:/bin",
        "JAVA_HOME": java_home(), "JDK_JAVA_OPTIONS": QUICK, "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        [environment.python, "program.py"], cwd=tmp_path, env=plain_environment() | settings,
        capture_output=True, text=True, timeout=END_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("|orders|") == 3
    assert xrange(client, "copies") == xrange(client, "orders")
    assert [fields for _, fields in xrange(client, "archive")] == [
        fields for _, fields in xrange(client, "orders")
    ]


def java_home() -> str:
    """The folder of Java, for an environment with a short PATH."""
    return str(Path(shutil.which("java") or "/usr/bin/java").resolve().parents[1])
