"""The port of figures, before Spark is started."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pyspark_penstock.cli.arguments import parser
from pyspark_penstock.cli.main import main

JOB = """
checkpoint = "checkpoint"
[source.numbers]
subscribe = "in"
[sql]
text = "SELECT * FROM numbers"
[sink]
stream = "out"
"""


def test_a_port_that_is_taken_is_said_before_spark_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark_penstock.cli.run.open_session", None)
    (tmp_path / "job.toml").write_text(JOB)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["run", str(tmp_path / "job.toml"), "--metrics-port", port]) == 2
    assert f"--metrics-port {port}: " in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "http", "1.5"])
def test_what_is_no_port_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["run", "job.toml", f"--metrics-port={port}"])
    assert "is not a port" in capsys.readouterr().err
