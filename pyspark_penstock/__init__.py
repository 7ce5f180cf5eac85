"""The Spark data source for Redis streams; it reaches a server over the network only.

Spark imports every top-level module whose name starts with ``pyspark_`` and registers its
``DefaultSource``: nothing has to be called. What needs Spark is imported only then, so that the
rest (ids, offsets, connections) serves programs without it.

It is the workers' interpreter that looks: PYSPARK_PYTHON, else ``python3`` of the PATH. A program
that imports this package before it starts Spark has it installed where it runs itself, so its own
interpreter becomes the workers', unless another is chosen. What ``spark-submit`` runs has a JVM
already, and may be far from its workers.
"""

from __future__ import annotations

import os
import sys
from typing import Any

if "PYSPARK_GATEWAY_PORT" not in os.environ:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def __getattr__(name: str) -> Any:
    if name != "DefaultSource":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pyspark_penstock.source import PenstockDataSource  # noqa: PLC0415  (see above)

    return PenstockDataSource
