"""The end of the process in which Spark has a stream's reader."""

from __future__ import annotations

import os
import sys


def exit_if_spark_hung_up() -> None:
    """End this process if Spark has hung up on it; for a reader's ``stop``.

    So Spark ends the process of a query that is stopped, and kills it next. In between PySpark
    takes the end of the connection for an error, has nobody to tell, and prints its traceback.
    """
    if isinstance(sys.exc_info()[1], EOFError):
        os._exit(0)
