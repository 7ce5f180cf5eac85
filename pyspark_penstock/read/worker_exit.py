"""Ends the Python process of a stream reader without a traceback."""

from __future__ import annotations

import os
import sys


def exit_if_spark_hung_up() -> None:
    """Exit if Spark has closed its connection to this process. Called by a reader's ``stop``.

    Spark stops a query by closing the connection, and then kills the process. Between the two,
    PySpark would report the closed connection as an error, with a traceback.
    """
    if isinstance(sys.exc_info()[1], EOFError):
        os._exit(0)
