"""A worker process of Spark's that is used again and again.

After each of its tasks it has Python look for garbage among all that is imported: PySpark, Arrow
and this package are 50 ms of CPU. A micro-batch has such a task for its plan, and one for its
commit, besides those that read and write.
"""

from __future__ import annotations

import gc
import sys
from functools import cache

DAEMONS = frozenset({"pyspark.daemon", "pyspark_penstock.jobs.worker_daemon"})


@cache
def settle() -> None:
    """Exempt what is there by now from that search, if this is such a worker. Once a process."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is not None and spec.name in DAEMONS:
        gc.collect()
        gc.freeze()
