"""The Spark session of the jobs, with better defaults for a local Spark.

A job that runs on a cluster leaves memory, addresses and interpreters to the cluster.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from pyspark_penstock.jobs import quick_start
from pyspark_penstock.jobs.hadoop_files import HadoopFiles
from pyspark_penstock.source import PenstockDataSource

LOCAL_ADDRESS = "127.0.0.1"
DRIVER_MEMORY = "1g"
QUERY_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")

FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
WITHOUT_PROCESSES = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)

# Hadoop starts chmod for each file of a checkpoint. By default, Java first starts another program,
# which starts that one.
QUICK_LAUNCH = "-Djdk.lang.Process.launchMechanism=VFORK"

EVERYWHERE = {
    "spark.sql.python.filterPushdown.enabled": "true",  # otherwise pushDownFilters is an error
    "spark.sql.session.timeZone": "UTC",  # ids are UTC, so are the dates of archives
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",  # an entry may name a field twice
    "spark.sql.adaptive.streaming.stateless.enabled": "false",  # a replay has the same partitions
    "spark.ui.showConsoleProgress": "false",
}


def session(
    name: str = "penstock",
    *,
    master: str = "",
    settings: Mapping[str, str] | None = None,
    log_level: str = "off",
) -> SparkSession:
    """A session for the jobs; the active one, if there is one.

    *master* defaults to ``local[*]``; ``spark-submit`` overrides it. *settings* are Spark's own,
    and override all settings made here.
    """
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    chosen_master = "" if submitted else master or "local[*]"
    local = chosen_master.startswith("local")
    chosen = EVERYWHERE | (local_settings(log_level) if local else {}) | dict(settings or {})
    prepare_environment(local)
    builder = SparkSession.builder.appName(name)
    if chosen_master:
        builder = builder.master(chosen_master)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    with interrupt_held_back():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel(log_level.upper())
    silence_query_loggers()
    if not local:  # Spark discovers installed packages only, not those of --py-files
        spark.dataSource.register(PenstockDataSource)
    return spark


@contextmanager
def interrupt_held_back() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back: a JVM whose parent ends while it starts would run for ever."""
    if threading.current_thread() is not threading.main_thread():  # only it can set handlers
        yield
        return
    came: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        came.append(number)

    before = {number: signal.signal(number, hold) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is hold:  # Spark may have set a handler, which stays
                signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)


def quick_checkpoint(spark: SparkSession, checkpoint: str) -> None:
    """Let the session's queries write *checkpoint* quickly, if it is on this machine.

    By default, Hadoop starts the commands ``readlink`` and ``chmod`` for each file, which takes
    as long as the rest of a small batch. What replaces it renames files atomically on this
    machine, and need not do so elsewhere. Another setting of the user's stays.
    """
    given = spark.conf.get(FILE_MANAGER, None)
    is_local = HadoopFiles(spark).is_local(checkpoint)
    if is_local and given is None:
        spark.conf.set(FILE_MANAGER, WITHOUT_PROCESSES)
    elif not is_local and given == WITHOUT_PROCESSES:
        spark.conf.unset(FILE_MANAGER)


def silence_query_loggers() -> None:
    """Keep PySpark from logging exceptions, with Java's stack, which it raises anyway."""
    for name in QUERY_LOGGERS:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


def local_settings(log_level: str) -> dict[str, str]:
    """Settings of a local session."""
    logging = f"-Dlog4j2.configurationFile=file:{quick_start.logging_file(log_level)}"
    launch = QUICK_LAUNCH if sys.platform == "linux" else ""
    return {
        "spark.driver.host": LOCAL_ADDRESS,
        "spark.driver.bindAddress": LOCAL_ADDRESS,
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.driver.extraJavaOptions": f"-XX:+UseSerialGC {launch} {logging}",
        "spark.python.daemon.module": "pyspark_penstock.jobs.worker_daemon",
        "spark.python.unix.domain.socket.enabled": "true",  # quicker than TCP
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
        "spark.ui.enabled": "false",
    }


def prepare_environment(local: bool) -> None:
    """Set the environment variables that the JVM needs at its start."""
    quick_start.add_to_path(quick_start.PACKAGE_PARENT)
    if local:
        os.environ["SPARK_LOCAL_IP"] = LOCAL_ADDRESS
        if os.environ.get("PYSPARK_PYTHON") in {None, sys.executable}:
            os.environ["PYSPARK_PYTHON"] = quick_start.interpreter()
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
