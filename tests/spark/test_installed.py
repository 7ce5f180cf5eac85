"""Spark finds the data source where the package is installed, as it looks for data sources."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

# As in pyspark/sql/worker/lookup_data_sources.py.
LOOKUP = """
from importlib import import_module
from pkgutil import iter_modules

for info in iter_modules():
    if info.name.startswith("pyspark_"):
        print(import_module(info.name).DefaultSource.name())
"""


def test_spark_finds_the_source_of_a_checkout_that_is_installed_from_any_folder(
    tmp_path: Path,
) -> None:
    """The editable install of ``make run`` is on the path, and is not imported by a hook."""
    try:
        distribution("penstock")
    except PackageNotFoundError:
        pytest.skip("this interpreter has nothing installed")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run(
        [sys.executable, "-c", LOOKUP], cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert found.stdout.split() == ["penstock"]


ALONE = """
import sys

for name in ("penstock", "server", "protocol", "storage", "octets"):
    sys.modules[name] = None
from pyspark_penstock.source import PenstockDataSource

print(PenstockDataSource.name())
PenstockDataSource({"path": "dump.rdb"}).schema()
"""


def test_without_the_server_s_package_only_dumps_cannot_be_read() -> None:
    """Regression: executors that got this package by ``--py-files`` did not find the source."""
    found = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=Path(__file__).parents[2], capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert found.stdout.split() == ["penstock"]
    assert "OptionError: dumps are read by the server's code: install penstock" in found.stderr
