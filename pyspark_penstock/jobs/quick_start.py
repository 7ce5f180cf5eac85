"""What makes a local Spark start quickly and quietly: an interpreter, a log file, a path.

Spark puts ``pyspark.zip`` in front of PYTHONPATH. A zip keeps no compiled modules, so each worker
would compile PySpark from source, half a second each time. The interpreter that Spark is given
here is a script that takes the zip out of the path again: the installed package serves as well.
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
    """Where small generated files are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "penstock-spark"


def interpreter() -> str:
    """An interpreter for Spark's workers: this one, without the zip in its path."""
    if os.name != "posix" or "'" in sys.executable:
        return sys.executable
    return keep("sparkpy", WRAPPER.format(python=sys.executable), executable=True)


def logging_file(level: str) -> str:
    """A configuration of Spark's log that lets *level* and what is worse through."""
    return keep("log4j2.properties", LOGGING.format(level=level))


def keep(name: str, text: str, executable: bool = False) -> str:
    """The path of a file that holds *text*, written now unless an earlier run has."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = cache_folder() / digest / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(text)
        Path(file.name).chmod(0o755 if executable else 0o644)
        Path(file.name).replace(path)  # at once, since others may be starting too
    return str(path)


def add_to_path(folder: Path) -> None:
    """Let this process and the workers it will start import from *folder*."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    parts = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    if str(folder) not in parts:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *parts])
