"""Virtual environments like those of ``pip install ".[spark]"``, without installing anything."""

from __future__ import annotations

import os
import shutil
import venv
from dataclasses import dataclass
from pathlib import Path

import pyspark

import pyspark_penstock

PACKAGE = Path(pyspark_penstock.__file__).parent
SPARK_HOME = Path(pyspark.__file__).parent


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the dependencies, and with or without the package."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, *, package: bool) -> Environment:
        """Make one that sees all packages installed here, except for our sources."""
        venv.create(folder, symlinks=True)
        (packages,) = folder.glob("lib/python3*/site-packages")
        (packages / "needed.pth").write_text(f"{SPARK_HOME.parent}\n")
        if package:
            shutil.copytree(PACKAGE, packages / PACKAGE.name)
        return cls(folder)

    @property
    def python(self) -> str:
        """Its interpreter."""
        return str(self.folder / "bin" / "python")

    def activated(self) -> dict[str, str]:
        """The environment variables of an activated environment, with Spark's programs in PATH."""
        path = f"{self.folder / 'bin'}:{SPARK_HOME / 'bin'}:{os.environ['PATH']}"
        return {"PATH": path, "SPARK_HOME": str(SPARK_HOME)}
