"""The Spark data source for Redis streams; it reaches a server over the network only.

Spark imports every top-level module whose name starts with ``pyspark_`` and registers its
``DefaultSource``: nothing has to be called. Modules that need Spark are imported only then, so
programs without Spark can use the others (ids, offsets, connections).

Spark searches for such modules with the workers' interpreter: PYSPARK_PYTHON, else ``python3`` in
PATH. If a program imports this package before it starts Spark, the package is installed for the
program's own interpreter. So that becomes the workers' interpreter, unless another one is chosen. A
program started by ``spark-submit`` has a JVM already, and its workers may be on other machines.
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
