"""Penstock as a user installs it: from the wheel, into a place of an unhandy name."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.package.environment import Environment, made_wheel


@pytest.fixture(scope="session")
def outside() -> Iterator[Path]:
    """A folder outside of the checkout that other users may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def installed(outside: Path) -> Environment:
    """An environment with the wheel, and what it needs."""
    environment = Environment(outside / "my pläce")
    environment.pip("install", str(made_wheel()))
    return environment
