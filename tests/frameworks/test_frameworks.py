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
from typing import NamedTuple

import pytest

from tests.certificates import Certificates
from tests.compat.processes import ROOT, ServerProcess, penstock_command
from tests.frameworks.environments import HERE, NODE, REQUIREMENTS, command
from tests.ports import free_port

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


# What celery_tasks.py needs, with its queue "q".
CELERY_RIGHTS = (
    "+@read +@write +@pubsub +@transaction +@connection +evalsha +script|load +script|exists +time "
    "-@dangerous ~q* ~unacked* ~_kombu.* ~celery* ~*.reply.celery.pidbox* "
    "&/0.celery.pidbox &/0.celeryev/worker.* &celery-task-meta-*"
)


class TlsServer(NamedTuple):
    """A server that serves TLS, too, at *tls_port*."""

    process: ServerProcess
    tls_port: int


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    process = ServerProcess(penstock_command(), tmp_path_factory.mktemp("server"))
    yield process
    process.stop()


@pytest.fixture(scope="module")
def tls_server(
    certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TlsServer]:
    port = free_port()
    options = ["--tls-port", str(port)]
    for name, value in certificates.parameters().items():
        options += [f"--{name.replace('_', '-')}", str(value)]
    process = ServerProcess(penstock_command(), tmp_path_factory.mktemp("tls"), *options)
    yield TlsServer(process, port)
    process.stop()


def run(program: Program, url: str, **variables: str) -> None:
    """Run *program* with a server, and these variables of the environment."""
    words = command(program.name, program.environment)
    if words is None:
        missing = f"{program.environment} is not installed: make test-frameworks"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    done = subprocess.run(
        [*words, url],
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_a_framework_does_its_ordinary_work(program: Program, server: ServerProcess) -> None:
    server.control.call(b"FLUSHALL")
    run(program, f"redis://127.0.0.1:{server.port}/0")


@pytest.mark.parametrize("name", ["bullmq_queues.js", "ioredis_client.js", "node_redis_client.js"])
def test_a_client_of_node_does_its_ordinary_work_by_tls(
    name: str, tls_server: TlsServer, certificates: Certificates
) -> None:
    tls_server.process.control.call(b"FLUSHALL")
    url = f"rediss://localhost:{tls_server.tls_port}/0"
    run(Program(name, NODE), url, NODE_EXTRA_CA_CERTS=certificates["ca.crt"])


def test_celery_runs_by_tls_as_a_user_with_few_rights(
    tls_server: TlsServer, certificates: Certificates
) -> None:
    control = tls_server.process.control
    control.call(b"FLUSHALL")
    rules = ["reset", "on", ">opens", *CELERY_RIGHTS.split()]
    assert control.call(b"ACL", b"SETUSER", b"celery", *(rule.encode() for rule in rules)) == (
        "+",
        b"OK",
    )
    where = f"rediss://celery:opens@localhost:{tls_server.tls_port}/0"
    trust = f"ssl_cert_reqs=required&ssl_ca_certs={certificates['ca.crt']}"
    run(Program("celery_tasks.py"), f"{where}?{trust}")
    assert control.call(b"ACL", b"LOG") == ("*", [])


def test_the_page_about_clients_has_the_rights_of_celery() -> None:
    page = (ROOT / "docs" / "clients.md").read_text()
    assert set(CELERY_RIGHTS.split()) <= set(page.split())


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
