"""The program as a process of its own: it starts Spark, and a signal ends it in good order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis

from tests.spark.jvm import QUICK

if TYPE_CHECKING:
    from tests.compat.processes import ServerProcess

ROOT = Path(__file__).parents[2]
END_S = 120.0
HARMLESS = "incubator modules"
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
    """Nothing is set for Spark but what makes it quicker: no interpreter, no address, no path."""
    for n in range(3):
        client.xadd("in", {"n": n})
    (tmp_path / "job.toml").write_text(JOB)
    program = (sys.executable, "-c", PROGRAM, str(ROOT))
    words = (
        *program, "run", "job.toml", "--json", "--server", f"127.0.0.1:{server.port}",
        "--conf", f"spark.driver.defaultJavaOptions={QUICK}",
    )  # fmt: skip
    plain = {
        n: v for n, v in os.environ.items() if not n.startswith(("PYSPARK", "SPARK", "PYTHON"))
    }
    with subprocess.Popen(
        words, cwd=tmp_path, env=plain, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        printed, complaints = process.communicate(timeout=END_S)
    assert process.returncode == 0
    assert (first["event"], first["entries"]) == ("batch", 3)
    assert json.loads(printed.splitlines()[-1])["entries"] == 3
    assert [line for line in complaints.splitlines() if HARMLESS not in line] == []
    (group,) = client.xinfo_groups("in")
    assert (group["name"], group["lag"]) == (b"spark", 0)


PROGRAM = """\
import sys
sys.path.insert(0, sys.argv.pop(1))  # as if it were installed
from pyspark_penstock.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
