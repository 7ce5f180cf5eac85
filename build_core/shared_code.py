"""Cython's own functions, compiled once: the compiled modules import them from SHARED_CODE.

Cython by itself writes into each module all functions of its own that the module needs: to read
keywords, to make types and functions.

Without it, in every twelfth of 250 modules: 11 % more machine code, and 20 % more CPU for gcc.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from build_core.modules import SHARED_CODE
from build_core.translation import DIRECTIVES, Translation
from build_core.variants import NORMAL, Variant


class SharedCode(Translation):
    """The translation of SHARED_CODE, whose .py says only what it is for."""

    def __init__(self, variant: Variant = NORMAL) -> None:
        super().__init__(SHARED_CODE, annotation_typing=False, variant=variant)

    def write_c(self, _context: Any, target: Path) -> bool:
        # The core has no typed memory views, whose code is larger than all the rest.
        command = ["generate-shared", str(target), "--exclude", "MemoryView"]
        directives = [f"{name}={value}" for name, value in DIRECTIVES.items()]
        command += ["--module-name", self.name, "-X", ",".join(directives)]
        done = subprocess.run([sys.executable, "-m", "cython", *command], check=False)  # noqa: S603
        return done.returncode == 0
