"""Clients and frameworks do their ordinary work, in programs as their users write them.

Each program checks its own results, prints what it has seen, and ends with an error otherwise. To
try one with another server: PENSTOCK_COMMAND=redis-server.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.certificates import Certificates
from tests.compat.processes import ROOT, ServerProcess, free_port, penstock_command
from tests.frameworks.environments import HERE, NODE, REQUIREMENTS, command

TIMEOUT_S = 120


class Program(NamedTuple):
    """A program of the folder programs/, and the environment that it needs."""

    name: str
    environment: str = "common"


PROGRAMS = [
    Program("arq_jobs.py", "arq"),
    Program("bullmq_queues.js", NODE),
    Program("cachelib_cache.py"),
    Program("celery_tasks.py"),
    Program("channels_core_layer.py"),
    Program("channels_layer.py"),
    Program("coredis_client.py"),
    Program("django_cache.py"),
    Program("django_counters.py"),
    Program("dramatiq_actors.py"),
    Program("faststream_brokers.py"),
    Program("huey_tasks.py"),
    Program("ioredis_client.js", NODE),
    Program("ioredis_scripts.js", NODE),
    Program("iredis_shell.py"),
    Program("limits_rates.py"),
    Program("node_redis_client.js", NODE),
    Program("node_redis_scripts.js", NODE),
    Program("redis_py_client.py"),
    Program("redis_py_scripts.py"),
    Program("rq_jobs.py"),
    Program("taskiq_streams.py", "taskiq"),
    Program("taskiq_tasks.py", "taskiq"),
    Program("walrus_containers.py"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    process = ServerProcess(penstock_command(), tmp_path_factory.mktemp("server"))
    yield process
    process.stop()


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_a_framework_does_its_ordinary_work(program: Program, server: ServerProcess) -> None:
    words = command(program.name, program.environment)
    if words is None:
        missing = f"{program.environment} is not installed: make test-frameworks"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    server.control.call(b"FLUSHALL")
    done = subprocess.run(
        [*words, f"redis://127.0.0.1:{server.port}/0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("program", ["ioredis_client.js", "node_redis_client.js"])
def test_a_client_of_node_does_its_ordinary_work_by_tls(
    program: str, certificates: Certificates, tmp_path: Path
) -> None:
    words = command(program, NODE)
    if words is None:
        pytest.skip(f"{NODE} is not installed: make test-frameworks")
    port = free_port()
    options = ["--tls-port", str(port)]
    for name, value in certificates.parameters().items():
        options += [f"--{name.replace('_', '-')}", str(value)]
    server = ServerProcess(penstock_command(), tmp_path, *options)
    done = subprocess.run(
        [*words, f"rediss://localhost:{port}/0"],
        env={**os.environ, "NODE_EXTRA_CA_CERTS": certificates["ca.crt"]},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    server.stop()
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_program_is_run() -> None:
    files = {path.name for path in (HERE / "programs").iterdir() if path.suffix in {".py", ".js"}}
    assert files == {program.name for program in PROGRAMS}


def test_the_page_about_clients_has_the_tested_versions() -> None:
    page = (ROOT / "docs" / "clients.md").read_text()
    stated = set(re.findall(r"^\| ([\w-]+)[^|]*\| ([\d.]+) \|", page, re.MULTILINE))
    listed = set()
    for path in REQUIREMENTS.glob("*.txt"):
        listed |= set(re.findall(r"^([\w-]+)[^=]*==([\d.]+)", path.read_text(), re.MULTILINE))
    listed |= set(json.loads((REQUIREMENTS / "package.json").read_text())["dependencies"].items())
    assert stated == listed
