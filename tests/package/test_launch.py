"""What starts the server finds its modules, whatever else is installed or lies about."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.application import APPLICATION, server_command

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60

# Each of them raises when it is imported.
SHADOWS = ("server", "storage", "protocol", "octets", "socket", "asyncio", "logging")
BROKEN = "raise SystemExit('the wrong {name} was imported')\n"

WAYS = {
    "python -m penstock": [sys.executable, "-m", "penstock"],
    "python -m penstock serve": [sys.executable, "-m", "penstock", "serve"],
    "penstock": [str(Path(sys.executable).with_name("penstock"))],
    "server_command": server_command(),
}


def shadows(folder: Path) -> Path:
    """Fill *folder* with modules of the application's names and of the standard library's."""
    folder.mkdir(exist_ok=True)
    for name in SHADOWS:
        (folder / f"{name}.py").write_text(BROKEN.format(name=name))
    return folder


def version(way: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What --version prints: it imports the server, and asks the compiled core."""
    return subprocess.run(
        [*WAYS[way], "--version"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def assert_ours(done: subprocess.CompletedProcess[str]) -> None:
    assert done.stderr == ""
    assert done.stdout.startswith("Penstock server v=")
    assert done.returncode == 0


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """Each way to start the server."""
    return str(request.param)


def test_modules_in_the_current_folder_are_not_imported(way, tmp_path):
    assert_ours(version(way, shadows(tmp_path)))


def test_modules_on_pythonpath_are_not_imported(way, tmp_path):
    assert_ours(version(way, tmp_path, PYTHONPATH=str(shadows(tmp_path / "path"))))


def test_with_the_safe_path_nothing_changes(way, tmp_path):
    assert_ours(version(way, shadows(tmp_path), PYTHONSAFEPATH="1"))


# Like the finders of editable installs that come before all others, and like tools that import
# something of that name as soon as Python starts.
SITECUSTOMIZE = """
import importlib.util, sys, types
class First:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("server", "storage", "protocol", "octets"):
            return importlib.util.spec_from_file_location(name, {broken!r})
sys.meta_path.insert(0, First)
sys.modules["server"] = types.ModuleType("server")
sys.modules["server.__main__"] = types.ModuleType("server.__main__")
"""


def test_what_is_imported_at_the_start_of_python_is_not_taken_for_the_server(way, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text(BROKEN.format(name="server"))
    (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE.format(broken=str(broken)))
    assert_ours(version(way, tmp_path, PYTHONPATH=str(tmp_path)))


IMPORT_ALL = """
import sys
import penstock.application, penstock.command_line, penstock.alias, penstock.launch
packages = ("server", "storage", "protocol", "octets")
ours = [name for name in sys.modules if name.partition(".")[0] in packages]
heavy = [name for name in ("asyncio", "uvloop", "socket", "logging") if name in sys.modules]
assert not ours + heavy, ours + heavy
import server
assert server.THEIRS
"""


def test_a_program_that_imports_penstock_keeps_its_own_server(tmp_path):
    (tmp_path / "server.py").write_text("THEIRS = True\n")
    command = [sys.executable, "-c", IMPORT_ALL]
    # The checkout is on no path here but that of its editable install, or of the wheel.
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONPATH"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=TIMEOUT_S)


def test_the_application_is_the_repository_in_a_checkout():
    assert ROOT == APPLICATION


@pytest.mark.parametrize("words", ["--help", "--version", "serve --help", "unit", "queue --help"])
def test_a_closed_stdout_is_no_error(words: str) -> None:
    """Regression: what was written to it gave a traceback."""
    line = ["sh", "-c", 'exec "$@" >&-', "sh", *WAYS["penstock"], *words.split()]
    done = subprocess.run(line, stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
