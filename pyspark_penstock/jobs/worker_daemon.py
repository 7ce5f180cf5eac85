"""The process from which Spark forks its Python workers, with all modules imported beforehand.

Spark uses it as ``spark.python.daemon.module``. A worker then starts in milliseconds, and shares
memory with the others. The workers' interpreter must be able to import it before a job's own files
arrive, so only the local session of ``jobs.session`` sets it.
"""

from __future__ import annotations

import gc

import pyarrow.compute  # noqa: F401  (imported here so that no worker has to)
from pyspark import daemon
from pyspark.sql import worker  # noqa: F401

from pyspark_penstock import source  # noqa: F401

if __name__ == "__main__":
    gc.freeze()
    daemon.manager()
