"""The program of ``python -m pyspark_penstock``, also for ``spark-submit``."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.path and Path(sys.path[0] or ".").resolve() == Path(__file__).resolve().parent:
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # run as a file: find the package

from pyspark_penstock.cli.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
