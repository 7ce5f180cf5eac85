"""Tools that start a redis-server themselves start Penstock, by what ``penstock alias`` writes."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from server.process import build
from tests.frameworks.environments import HERE, INSTALLED
from tests.ports import free_port

TIMEOUT_S = 120
ENVIRONMENT = INSTALLED / "launchers" / "bin"


@pytest.fixture
def alias(tmp_path: Path) -> Path:
    """The executable."""
    folder = tmp_path / "bin"
    words = [sys.executable, "-m", "penstock", "alias", str(folder)]
    subprocess.run(words, check=True, capture_output=True)
    return folder / "redis-server"


def run(alias: Path, words: list[str], **variables: str) -> str:
    """Run *words*, a program of the environment, with the alias first on PATH; its output."""
    if not ENVIRONMENT.exists():
        missing = "launchers are not installed: make test-frameworks"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    folder = alias.parents[1] / "project"
    folder.mkdir()
    done = subprocess.run(
        [str(ENVIRONMENT / words[0]), *words[1:]],
        cwd=folder,
        env={**os.environ, "PATH": f"{alias.parent}:{os.environ['PATH']}", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_pytest_redis_starts_it_and_empties_it(alias: Path, tmp_path: Path) -> None:
    project = shutil.copy(HERE / "launchers" / "pytest_redis_fixtures.py", tmp_path)
    said = run(
        alias, ["python", "-m", "pytest", "--rootdir", str(tmp_path), "-p", "no:cacheprovider",
                f"--redis-exec={alias}", str(project)],
        EXPECTED=str(alias), VERSION=build.REDIS_VERSION, DATA=str(tmp_path),
    )  # fmt: skip
    assert "7 passed" in said


@pytest.mark.parametrize("password", ["", "secret"])
def test_pifpaf_starts_it_by_its_standard_input(alias: Path, password: str) -> None:
    port = free_port()
    program = (
        "import os, redis; r = redis.Redis.from_url(os.environ['PIFPAF_REDIS_URL']);"
        "print(r.set('a', 1), r.config_get('port'))"
    )
    options = ["--port", str(port), *(["--password", password] if password else [])]
    python = str(ENVIRONMENT / "python")
    said = run(
        alias,
        ["pifpaf", "-e", "PIFPAF_REDIS", "run", "redis", *options, "--", python, "-c", program],
    )
    assert said.strip() == f"True {{'port': '{port}'}}"


def test_testcontainers_finds_what_it_waits_for(alias: Path) -> None:
    program = str(HERE / "launchers" / "testcontainers_waits.py")
    assert "answers PING" in run(alias, ["python", program, str(free_port())])


# ---------------------------------------------------------------------- without any tool


def started(alias: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(alias), *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


@pytest.mark.parametrize("option", ["-v", "--version"])
def test_the_line_of_the_version_is_redis_s(alias: Path, option: str) -> None:
    done = started(alias, option)
    line = r"Redis server v=(\d+\.\d+\.\d+) sha=[0-9a-f]{8}:\d malloc=\S+ bits=64 build=\S+.*\n"
    match = re.fullmatch(line, done.stdout)
    assert match is not None, done.stdout
    assert match[1] == build.REDIS_VERSION
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sentinel"], "this server is no sentinel"),
        (["--test-memory", "64"], "this server has no test of the memory"),
        (["--check-system"], "this server has no check of the system"),
    ],
)
def test_what_it_cannot_do_is_refused(alias: Path, words: list[str], said: str) -> None:
    done = started(alias, *words)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 2  # the first one is Redis's: FATAL CONFIG FILE ERROR


def test_in_the_background_its_log_is_redis_s(alias: Path, tmp_path: Path) -> None:
    """The words that scripts look for, in their order; redis 7.0 and 8.0 were asked for them."""
    pid_file = tmp_path / "redis.pid"
    done = started(
        alias, "--port", str(free_port()), "--dir", str(tmp_path), "--daemonize", "yes",
        "--logfile", "redis.log", "--pidfile", str(pid_file), "--save", "",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    pid = int(pid_file.read_text())
    end(pid)
    log = (tmp_path / "redis.log").read_text().splitlines()
    said = [re.sub(r"^.* [*#] ", "", line) for line in log]
    version = f"version={build.REDIS_VERSION}, bits=64, commit=00000000, modified=0, pid={pid}"
    words = [
        "oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo",
        f"Redis {version}, just started",
        "Configuration loaded",
        "Server initialized",
        "Ready to accept connections tcp",
        "Redis is now ready to exit, bye bye...",
    ]
    assert [line for line in said if line in words] == words


def end(pid: int) -> None:
    """Have the process *pid*, which is not a child of this one, end."""
    process = os.pidfd_open(pid)
    signal.pidfd_send_signal(process, signal.SIGTERM)
    assert select.select([process], [], [], TIMEOUT_S)[0]
    os.close(process)
