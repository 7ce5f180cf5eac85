"""How Spark's exceptions become our errors and exit codes."""

from __future__ import annotations

import pytest

from pyspark_penstock.errors import (
    CheckpointError,
    DataLossError,
    OptionError,
    PenstockError,
    SinkError,
)
from pyspark_penstock.jobs.failures import (
    Interrupted,
    JobError,
    UsageError,
    exit_code,
    refusal_of,
)

TRACE = """[STREAM_FAILED] Query [id = 1] terminated with exception: Traceback:
  File "x.py", line 3, in read
pyspark_penstock.errors.DataLossError: stream 'a': 3 of 9 entries were trimmed
  at org.apache.spark.Somewhere"""


def test_our_error_is_found_in_the_text_of_spark_s_exception() -> None:
    found = refusal_of(RuntimeError(TRACE))
    assert type(found) is DataLossError
    assert str(found) == "stream 'a': 3 of 9 entries were trimmed"


def test_another_exception_becomes_a_job_error_of_its_first_line() -> None:
    found = refusal_of(RuntimeError("\n [TABLE] no such table \n at org.apache"))
    assert (type(found), str(found)) == (JobError, "[TABLE] no such table")
    assert str(refusal_of(KeyError())) == "KeyError"


def test_the_first_lines_of_py4j_and_tracebacks_are_left_out() -> None:
    java = "An error occurred while calling o43.load.\n: org.x.Y: [NOT_FOUND] no\n\tat z"
    assert str(refusal_of(RuntimeError(java))) == "org.x.Y: [NOT_FOUND] no"
    python = """[FAILED] Query: Traceback (most recent call last):
  File "a.py", line 1
    1 / 0
ZeroDivisionError: division by zero
\tat org.x"""
    assert str(refusal_of(RuntimeError(python))) == "ZeroDivisionError: division by zero"


def test_our_own_exception_is_unchanged() -> None:
    problem = OptionError("x")
    assert refusal_of(problem) is problem


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (JobError(""), 1), (SinkError(""), 1), (CheckpointError(""), 1),
        (OptionError(""), 2), (UsageError(""), 2), (DataLossError(""), 3), (Interrupted(""), 130),
    ],
)  # fmt: skip
def test_each_error_has_its_exit_code(problem: PenstockError, code: int) -> None:
    assert exit_code(problem) == code
