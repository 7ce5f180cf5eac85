"""The settings and the environment of the Spark session before it starts."""

from __future__ import annotations

import importlib
import os
import signal
import sys

import pytest
from pyspark.logger import PySparkLogger

import pyspark_penstock
from pyspark_penstock.jobs import quick_start
from pyspark_penstock.jobs.session import (
    QUERY_LOGGERS,
    interrupt_held_back,
    local_settings,
    prepare_environment,
    silence_query_loggers,
)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without Spark's variables; it is restored at the end."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYTHONPATH", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.setenv(name, "")  # so that monkeypatch restores it
        monkeypatch.delenv(name)


def test_local_spark_uses_the_loopback_address_and_this_interpreter() -> None:
    prepare_environment(local=True)
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    with open(os.environ["PYSPARK_PYTHON"]) as script:
        assert sys.executable in script.read()


def test_importing_the_package_sets_the_workers_interpreter() -> None:
    """Otherwise Spark would use the python3 in PATH, which may lack the package."""
    importlib.reload(pyspark_penstock)
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    prepare_environment(local=True)
    assert os.environ["PYSPARK_PYTHON"] == quick_start.interpreter()


def test_under_spark_submit_the_workers_interpreter_is_not_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    importlib.reload(pyspark_penstock)
    assert "PYSPARK_PYTHON" not in os.environ


def test_on_a_cluster_no_address_is_set() -> None:
    prepare_environment(local=False)
    assert "SPARK_LOCAL_IP" not in os.environ
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_a_given_interpreter_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/mine")
    prepare_environment(local=True)
    prepare_environment(local=False)
    assert os.environ["PYSPARK_PYTHON"] == "/mine"


def test_the_log_level_is_in_a_log4j_file() -> None:
    options = local_settings("warn")["spark.driver.extraJavaOptions"]
    path = options.partition("log4j2.configurationFile=file:")[2]
    with open(path) as file:
        assert "rootLogger.level = warn" in file.read()


def test_an_interrupt_waits_until_the_jvm_has_started() -> None:
    """A JVM whose parent ends before the JVM looks for it would run for ever."""
    steps: list[str] = []
    before = signal.getsignal(signal.SIGTERM)

    def start() -> None:
        with interrupt_held_back():
            signal.raise_signal(signal.SIGINT)
            steps.append("started")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert steps == ["started"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_signal_handler_that_spark_sets_is_kept() -> None:
    """Spark's handler cancels running jobs."""
    before = signal.getsignal(signal.SIGINT)
    came: list[int] = []
    try:
        with interrupt_held_back():
            signal.signal(signal.SIGINT, lambda number, _: came.append(number))
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [signal.SIGINT]


def test_spark_s_query_loggers_print_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    silence_query_loggers()
    for name in QUERY_LOGGERS:
        PySparkLogger.getLogger(name).exception("no such column", errorClass="X")
    assert capfd.readouterr().err == ""
