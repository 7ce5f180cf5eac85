"""Files on any file system that Spark can reach: local, HDFS, object stores."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


class HadoopFiles:
    """Access to files by the session's Hadoop configuration."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm  # noqa: SLF001  (Spark has no public way to list a folder)
        self._settings: Any = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001

    def names(self, folder: str) -> list[str]:
        """The names in a folder; none if there is no such folder."""
        path, system = self._find(folder)
        if not system.exists(path):
            return []
        return sorted(status.getPath().getName() for status in system.listStatus(path))

    def text(self, path: str) -> str:
        """A whole file. Raises OSError."""
        place, system = self._find(path)
        stream = system.open(place)
        try:
            data: bytes = self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)
        finally:
            stream.close()
        return bytes(data).decode("utf-8")

    def is_local(self, path: str) -> bool:
        """Whether *path* is on a file system of this machine."""
        _, system = self._find(path)
        return bool(system.getUri().getScheme() == "file")

    def _find(self, path: str) -> tuple[Any, Any]:
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        return place, place.getFileSystem(self._settings)
