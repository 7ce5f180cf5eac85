"""The session's settings and environment, before Spark starts."""

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
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)


def test_a_local_spark_keeps_to_the_loopback_and_to_this_interpreter() -> None:
    prepare_environment(local=True)
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    with open(os.environ["PYSPARK_PYTHON"]) as script:
        assert sys.executable in script.read()


def test_a_program_that_imports_the_package_has_its_own_interpreter_for_the_workers() -> None:
    """Otherwise Spark would take python3 in PATH, and find no data source there."""
    importlib.reload(pyspark_penstock)
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    prepare_environment(local=True)
    assert os.environ["PYSPARK_PYTHON"] == quick_start.interpreter()


def test_what_spark_submit_runs_leaves_the_interpreter_of_the_workers_to_the_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    importlib.reload(pyspark_penstock)
    assert "PYSPARK_PYTHON" not in os.environ


def test_a_cluster_s_addresses_are_its_own() -> None:
    prepare_environment(local=False)
    assert "SPARK_LOCAL_IP" not in os.environ
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_an_interpreter_that_is_chosen_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/mine")
    prepare_environment(local=True)
    prepare_environment(local=False)
    assert os.environ["PYSPARK_PYTHON"] == "/mine"


def test_spark_s_log_goes_by_a_file_that_says_how_much() -> None:
    options = local_settings("warn")["spark.driver.extraJavaOptions"]
    path = options.partition("log4j2.configurationFile=file:")[2]
    with open(path) as file:
        assert "rootLogger.level = warn" in file.read()


def test_an_interrupt_waits_until_the_jvm_has_started() -> None:
    """A JVM whose parent has gone before it looks for it would run for ever."""
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


def test_the_handler_that_spark_sets_when_it_starts_stays() -> None:
    """It cancels the jobs that run."""
    before = signal.getsignal(signal.SIGINT)
    came: list[int] = []
    try:
        with interrupt_held_back():
            signal.signal(signal.SIGINT, lambda number, _: came.append(number))
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [signal.SIGINT]


def test_spark_s_query_loggers_leave_the_word_to_the_exception(
    capfd: pytest.CaptureFixture[str],
) -> None:
    silence_query_loggers()
    for name in QUERY_LOGGERS:
        PySparkLogger.getLogger(name).exception("no such column", errorClass="X")
    assert capfd.readouterr().err == ""
