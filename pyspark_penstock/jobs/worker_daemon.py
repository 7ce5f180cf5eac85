"""The process from which Spark forks its Python workers, with everything imported beforehand.

Set as ``spark.python.daemon.module``; a worker then starts in milliseconds and shares its memory
with its siblings. It must be importable by the workers' interpreter before any job's own files
are there, so only the local session of ``jobs.session`` sets it.
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
