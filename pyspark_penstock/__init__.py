"""The Spark data source for Redis streams; it reaches a server over the network only.

Spark imports every top-level module whose name starts with ``pyspark_`` and registers its
``DefaultSource``: nothing has to be called. What needs Spark is imported only then, so that the
rest (ids, offsets, connections) serves programs without it.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name != "DefaultSource":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pyspark_penstock.source import PenstockDataSource  # noqa: PLC0415  (see above)

    return PenstockDataSource
