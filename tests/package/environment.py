"""An environment as a user has one: a venv outside of the checkout, and what pip puts there."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import penstock

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
TIMEOUT_S = 300

# Whose environment tells nothing: the home, the current folder and Python's variables are gone.
NOBODY = ["env", "-i", "-C", "/", "PATH=/usr/bin:/bin"]
NOBODY_ID = 65534


class Environment:
    """A venv in *folder*; pip comes from the environment that runs the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)

    @property
    def packages(self) -> Path:
        """Its site-packages."""
        return next(self.folder.glob("lib/python*/site-packages"))

    def command(self, program: str) -> str:
        """The path of *program*, as ``penstock`` or ``python``."""
        return str(self.folder / "bin" / program)

    def pip(self, verb: str, *words: str) -> None:
        """Let pip do something in here. Without a package index the test is skipped, but in CI."""
        pip = [sys.executable, "-m", "pip", "--python", self.command("python"), verb]
        done = printed(*pip, "--quiet", "--disable-pip-version-check", *words)
        if done.returncode == 0:
            return
        if "No matching distribution found" in done.stderr and not os.environ.get("CI"):
            pytest.skip(f"a package that Penstock needs could not be fetched: {done.stderr}")
        pytest.fail(done.stdout + done.stderr)


def printed(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run *command* to its end; what it has printed."""
    return subprocess.run(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def as_nobody() -> list[str]:
    """Words before a command: run it without an environment, and as another user if that can be.

    Only root can, and only with a Python that others may run.
    """
    other = [*NOBODY, "setpriv", f"--reuid={NOBODY_ID}", f"--regid={NOBODY_ID}", "--clear-groups"]
    if os.getuid() != 0 or printed(*other, "test", "-x", sys.executable).returncode:
        return NOBODY
    return other


def made_wheel() -> Path:
    """The wheel that ``make wheel`` has made for this interpreter."""
    version = sysconfig.get_config_var("py_version_nodot")
    return _made(f"penstock-{penstock.__version__}-cp{version}-*.whl")


def made_sdist() -> Path:
    """The source distribution that ``make wheel`` has made."""
    return _made(f"penstock-{penstock.__version__}.tar.gz")


def _made(pattern: str) -> Path:
    found = max(DIST.glob(pattern), key=lambda path: path.stat().st_mtime, default=None)
    if found is None:
        pytest.fail(f"there is no dist/{pattern}: make wheel")
    return found
