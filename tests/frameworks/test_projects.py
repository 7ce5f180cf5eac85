"""Projects of others, which test with Penstock's fixtures, in an environment where it is installed.

Each is copied to a folder of its own, and run there as its owners run it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.testing import PenstockServer
from tests.frameworks.environments import HERE, INSTALLED, PYTEST, ROOT
from tests.frameworks.leftovers import processes_below, wait_until_gone

PROJECTS = HERE / "projects"
PAGE = ROOT / "docs" / "testing.md"
TIMEOUT_S = 300


class Project:
    """A copy of a project, and a place for temporary files that is its alone."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder / name
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        shutil.copytree(PROJECTS / name, self.folder)

    def command(self, *words: str) -> list[str]:
        """A module of Python in the environment, with arguments."""
        python = INSTALLED / PYTEST / "bin" / "python"
        if not python.exists():
            missing = f"{PYTEST} is not installed: make test-frameworks"
            if os.environ.get("CI"):
                pytest.fail(missing)
            pytest.skip(missing)
        return [str(python), *words]

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Run it, and do not wait."""
        # Its folder shows what was left in it. A flag of Python would not reach xdist's workers.
        variables = {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(self.temporary), **environment}
        return subprocess.Popen(
            self.command(*words),
            cwd=self.folder,
            env={**_without_pytest(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *words: str, **environment: str) -> str:
        """What it prints; fails if it fails."""
        process = self.start(*words, **environment)
        try:
            output, _ = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
        assert process.returncode == 0, output
        return output

    def test(self, *options: str, **environment: str) -> int:
        """Run its tests by pytest; how many have passed. None may be skipped."""
        output = self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *options, **environment)
        assert "skipped" not in output, output
        passed = re.search(r"(\d+) passed", output)
        assert passed, output
        return int(passed[1])

    def assert_nothing_is_left(self) -> None:
        """No server runs, and no folder of one is there."""
        wait_until_gone(self.temporary)
        assert not [path for path in self.temporary.iterdir() if path.name.startswith("penstock-")]


def _without_pytest() -> dict[str, str]:
    """The environment, without what this run of pytest has added to it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """The project that the test names, or "plain"; nothing of it may be left afterwards."""
    made = Project(getattr(request, "param", "plain"), tmp_path)
    yield made
    made.assert_nothing_is_left()


PYTEST_PROJECTS = [
    "plain", "anyio_tests", "asyncio_tests", "django_site", "fakeredis_troubles", "fastapi_service"
]  # fmt: skip


@pytest.mark.parametrize("project", PYTEST_PROJECTS, indirect=True)
def test_a_project_tests_with_penstock(project: Project) -> None:
    assert project.test()


@pytest.mark.parametrize("project", ["plain", "asyncio_tests"], indirect=True)
def test_workers_of_xdist_have_servers_of_their_own(project: Project) -> None:
    assert project.test("-n", "8") == project.test("-n", "0")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_tests_does_not_matter(project: Project, seed: int) -> None:
    assert project.test(f"--randomly-seed={seed}")


def test_options_of_the_command_line(project: Project) -> None:
    assert project.test(
        "--penstock-socket", "tcp", "--penstock-option", "hz 10", "-k", "test_url or own_socket"
    )


@pytest.mark.parametrize("project", ["unittest_tests"], indirect=True)
def test_unittest(project: Project) -> None:
    assert "OK" in project.run("-W", "error", "-m", "unittest", "-v")
    assert project.test() == 4


@pytest.mark.parametrize("project", ["django_site"], indirect=True)
def test_manage_py_test(project: Project) -> None:
    assert "OK" in project.run("-W", "error", "manage.py", "test", "tests_of_manage")


@pytest.mark.parametrize("project", ["data_tests"], indirect=True)
def test_data_of_a_project_is_where_tests_begin_and_is_never_changed(project: Project) -> None:
    data = project.folder / "shop.rdb"
    with PenstockServer() as server:
        server.call("SET", "name", "shop")
        for _ in range(3):
            server.call("XADD", "orders", "*", "item", "kettle")
        shutil.copy(server.snapshot().file, data)
    before = data.read_bytes()
    assert project.test("-n", "2")
    assert data.read_bytes() == before
    files = {path.name for path in project.folder.iterdir()}
    assert files == {"shop.rdb", "pytest.ini", "test_data.py"}


@pytest.mark.parametrize("project", ["fastapi_service"], indirect=True)
def test_the_examples_of_the_page_about_testing(project: Project) -> None:
    (project.folder / "test_service.py").unlink()
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    examples = [block for block in blocks if re.search(r"def test_|TestCase", block)]
    assert len(examples) >= 6
    for number, block in enumerate(examples):
        (project.folder / f"test_example_{number}.py").write_text(block)
    with PenstockServer() as server:
        for _ in range(3):
            server.call("XADD", "orders", "*", "item", "kettle")
        shutil.copy(server.snapshot().file, project.folder / "shop.rdb")
    assert project.test() == len(examples)


# ---------------------------------------------------------------------- odd places, bad ends


def test_the_plugin_can_be_switched_off(project: Project) -> None:
    (project.folder / "pyproject.toml").unlink()
    process = project.start("-m", "pytest", "-q", "-p", "no:penstock", "-k", "test_url")
    output, _ = process.communicate(timeout=TIMEOUT_S)
    assert "fixture 'penstock_url' not found" in output


def test_a_deep_folder_for_temporary_files(project: Project) -> None:
    deep = project.temporary / ("d" * 80) / ("e" * 80)
    deep.mkdir(parents=True)
    assert project.test("-k", "test_url", TMPDIR=str(deep))


def test_a_home_that_cannot_be_written_to(project: Project, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    assert project.test("-k", "test_url", HOME=str(home))


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_killed_leaves_nothing(
    project: Project, options: tuple[str, ...], number: signal.Signals
) -> None:
    pipe = project.folder / "runs"
    os.mkfifo(pipe)
    (project.folder / "test_long.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_waits(penstock, n):\n"
        "    open('runs', 'w').close()\n"
        "    penstock.call('BLPOP', 'none', 0)\n"
    )
    process = project.start("-m", "pytest", "-q", *options, "test_long.py")
    pipe.open().close()  # a test runs
    assert processes_below(project.temporary)
    os.kill(process.pid, number)
    process.communicate(timeout=TIMEOUT_S)
