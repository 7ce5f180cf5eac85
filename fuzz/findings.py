"""Where a fuzzer puts what it has found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DEFAULT_PREFIX = f"{Path(__file__).parent.parent / 'build' / 'fuzz'}/"  # never the source tree


def finding_path(options: Mapping[str, str], name: str) -> Path:
    """The file *name* at the fuzzer's option ``-artifact_prefix``; its folder is made."""
    path = Path(options.get("artifact_prefix", DEFAULT_PREFIX) + name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
