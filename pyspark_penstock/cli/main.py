"""The program: arguments in, exit code out."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from redis import RedisError

from pyspark_penstock.cli.arguments import parser
from pyspark_penstock.cli.output import Output
from pyspark_penstock.errors import PenstockError
from pyspark_penstock.jobs.failures import DONE, exit_code, refusal_of

EXPECTED = (PenstockError, PySparkException, Py4JError, RedisError, OSError, KeyboardInterrupt)


def main(words: Sequence[str]) -> int:
    """Run a command. Returns the exit code; wrong usage exits with 2, as argparse does."""
    given = parser().parse_args(words)
    output = Output(given.json)
    try:
        command = importlib.import_module(f"pyspark_penstock.cli.{given.command}")
        command.run(given, output)
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except EXPECTED as problem:
        refusal = refusal_of(problem)
        output.fail(refusal)
        return exit_code(refusal)
    return DONE
