"""From Spark's exceptions to our errors, and to exit codes."""

from __future__ import annotations

import re

from pyspark_penstock.errors import DataLossError, OptionError, PenstockError, kind_of

DONE, ERROR, USAGE, DATA_LOSS = 0, 1, 2, 3
INTERRUPTED = 130  # the exit code of shells for SIGINT
TRACEBACK = "Traceback (most recent call last):"
PY4J = "An error occurred while calling"


class UsageError(PenstockError):
    """A command or job file that makes no sense."""


class JobError(PenstockError):
    """A job failed. If Spark failed, the text is Spark's, shortened."""


class Interrupted(PenstockError):
    """SIGINT came while no batch was running."""


def refusal_of(problem: BaseException) -> PenstockError:
    """*problem* as one of our errors, with the most informative line of its text."""
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
    """The first line with information; the last one of a Python traceback.

    Py4J's own words in front of Java's are skipped.
    """
    lines = [line.removeprefix(": ") for line in re.split(r"\n|\\n", text) if line.strip()]
    found = next((line.strip() for line in lines if not line.startswith(PY4J)), "")
    if not found.endswith(TRACEBACK):
        return found
    behind = lines[lines.index(found) + 1 :] if found in lines else []
    return next((line.strip() for line in behind if not line[0].isspace()), found)


def exit_code(problem: PenstockError) -> int:
    """The exit code of the program after *problem*."""
    if isinstance(problem, DataLossError):
        return DATA_LOSS
    if isinstance(problem, Interrupted):
        return INTERRUPTED
    return USAGE if isinstance(problem, OptionError | UsageError) else ERROR
