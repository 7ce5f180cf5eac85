"""The session: what is set where, before Spark starts."""

from __future__ import annotations

import os
import sys

import pytest

from pyspark_penstock.jobs.session import local_settings, prepare_environment


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that says nothing about Spark, and is put back in the end."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYTHONPATH"):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)


def test_a_local_spark_keeps_to_the_loopback_and_to_this_interpreter() -> None:
    prepare_environment(local=True)
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    with open(os.environ["PYSPARK_PYTHON"]) as script:
        assert sys.executable in script.read()


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
