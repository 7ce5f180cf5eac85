"""Files that let a local Spark start quickly and quietly: an interpreter and a log configuration.

Spark puts ``pyspark.zip`` first in PYTHONPATH. Python does not cache compiled modules of a zip, so
each worker would compile PySpark again, for half a second. The interpreter given to Spark is a
script that removes the zip from the path, so that the installed package is used.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

PACKAGE_PARENT = Path(__file__).parents[2]
WRAPPER = """\
#!/bin/sh
rest=$PYTHONPATH: kept=
while [ -n "$rest" ]; do
  part=${{rest%%:*}} rest=${{rest#*:}}
  case $part in */python/lib/*.zip | '') ;; *) kept=$kept:$part ;; esac
done
PYTHONPATH=${{kept#:}} exec '{python}' "$@"
"""
LOGGING = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = {level}
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


def cache_folder() -> Path:
    """Where these files are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "penstock-spark"


def interpreter() -> str:
    """The interpreter for Spark's workers: this one, without the zip in its path."""
    if os.name != "posix" or "'" in sys.executable:
        return sys.executable
    return keep("sparkpy", WRAPPER.format(python=sys.executable), executable=True)


def logging_file(level: str) -> str:
    """A log configuration that shows messages of *level* and above."""
    return keep("log4j2.properties", LOGGING.format(level=level))


def keep(name: str, text: str, executable: bool = False) -> str:
    """The path of a file with this content, written if it does not exist yet."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = cache_folder() / digest / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(text)
        Path(file.name).chmod(0o755 if executable else 0o644)
        Path(file.name).replace(path)  # atomically, since other programs may be starting, too
    return str(path)


def add_to_path(folder: Path) -> None:
    """Let this process, and the workers that it starts, import from *folder*."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    parts = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    if str(folder) not in parts:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *parts])
