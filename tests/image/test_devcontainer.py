""".devcontainer/: read by the tool that reads such files, from npm."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.image.engine import ROOT

CLI = "@devcontainers/cli@0.89"
FETCH_S = 300


def test_the_tool_reads_it_and_its_commands_are_there() -> None:
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip("there is no npx (on Debian: apt-get install npm)")
    read = subprocess.run(
        [npx, "--yes", CLI, "read-configuration", "--workspace-folder", str(ROOT),
         "--docker-path", "true"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=FETCH_S,
    )  # fmt: skip
    assert read.returncode == 0, read.stderr
    configuration = json.loads(read.stdout)["configuration"]
    assert configuration["name"] == "Penstock"
    assert configuration["image"].endswith("python:3.11-bookworm")
    verb, target = configuration["updateContentCommand"].split()
    assert verb == "make"
    assert f"\n{target}:" in (ROOT / "Makefile").read_text()
