"""Failures of Spark jobs, as the refusals of ours that they are, where they are."""

from __future__ import annotations

import re

from pyspark_penstock.errors import DataLossError, OptionError, PenstockError, kind_of

DONE, ERROR, USAGE, DATA_LOSS = 0, 1, 2, 3
INTERRUPTED = 130  # as shells have it for SIGINT
TRACEBACK = "Traceback (most recent call last):"
PY4J = "An error occurred while calling"


class UsageError(PenstockError):
    """A command or a job file that cannot be meant so."""


class JobError(PenstockError):
    """It could not be done; where Spark could not do it the text is Spark's, shortened."""


class Interrupted(PenstockError):
    """SIGINT came where there is no batch to end."""


def refusal_of(problem: BaseException) -> PenstockError:
    """*problem* as one of our errors, with the one line of its text that says it."""
    if isinstance(problem, PenstockError):
        return problem
    if isinstance(problem, KeyboardInterrupt):
        return Interrupted("interrupted")
    text = str(problem)
    kind = kind_of(text)
    if kind is None:
        return JobError(telling_line(text) or type(problem).__name__)
    return kind(telling_line(text[text.index(f"{kind.__name__}: ") :].partition(": ")[2]))


def telling_line(text: str) -> str:
    """The first line that says something; of a traceback of Python its last.

    What Py4J puts in front of Java's words says nothing.
    """
    lines = [line.removeprefix(": ") for line in re.split(r"\n|\\n", text) if line.strip()]
    found = next((line.strip() for line in lines if not line.startswith(PY4J)), "")
    if not found.endswith(TRACEBACK):
        return found
    behind = lines[lines.index(found) + 1 :] if found in lines else []
    return next((line.strip() for line in behind if not line[0].isspace()), found)


def exit_code(problem: PenstockError) -> int:
    """What a program ends with after *problem*."""
    if isinstance(problem, DataLossError):
        return DATA_LOSS
    if isinstance(problem, Interrupted):
        return INTERRUPTED
    return USAGE if isinstance(problem, OptionError | UsageError) else ERROR
