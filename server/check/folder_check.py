"""Which files belong to a path, and the check of each.

a file       an RDB, a file of commands, an RDB with commands after it, or a manifest
a folder     the files that its manifest names, or the snapshot and the AOF below it; without a
             manifest, logs that are a single file, as before Redis 7

Each file is checked by itself: what it holds, and where it is damaged. If all are whole, or only
torn, what a start would load is loaded (start_check.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from server.check.findings import Finding
from server.check.log_check import check_log
from server.check.snapshot_check import check_snapshot
from server.check.start_check import check_start
from server.parts.persistence import manifest
from server.parts.persistence.files import Files
from server.parts.persistence.log_loader import SNAPSHOT_MAGIC
from server.parts.persistence.manifest import BadManifest

MANIFESTS = "*.manifest"


def check_path(path: Path, files: Files, databases: int) -> Iterator[Finding]:
    """Check the files at *path*, one by one, for a server of *databases*. Raises OSError."""
    if path.is_dir():
        found = list(_units_in(path))
        for unit in found:
            yield from _check_unit(unit, files, databases)
        if not found:
            problem = "there is neither a snapshot nor an append-only file"
            yield Finding(path, "folder", 0, problem, verdict="NO DATA")
    else:
        yield from _check_unit(path, files, databases)


def _units_in(path: Path) -> Iterator[Path]:
    """What a start may load in the folder *path*: manifests, snapshots, logs of a single file."""
    manifests = _names(path, MANIFESTS)
    if manifests:
        yield from manifests
        return
    yield from _names(path, "*.rdb")
    below = _names(path, f"*/{MANIFESTS}")
    yield from below or _names(path, "*.aof")


def _names(path: Path, pattern: str) -> list[Path]:
    return sorted(file for file in path.glob(pattern) if not file.name.startswith("temp-"))


def _check_unit(path: Path, files: Files, databases: int) -> Iterator[Finding]:
    """Check all files that are loaded together, then load them."""
    can_be_loaded = True
    check = _check_manifest if path.suffix == ".manifest" else check_file
    for found in check(path, files):
        can_be_loaded = can_be_loaded and (found.is_whole or found.torn)
        yield found
    if can_be_loaded:
        yield check_start(path, databases)


def check_file(path: Path, files: Files) -> Iterator[Finding]:
    """An RDB, commands, or both."""
    start = 0
    if path.suffix == ".rdb" or bytes(files.read(path)[:6]).startswith(SNAPSHOT_MAGIC):
        found, start = check_snapshot(path, files)
        yield found
        if start == found.size:
            return
    yield check_log(path, files, start)


def _check_manifest(path: Path, files: Files) -> Iterator[Finding]:
    text = bytes(files.read(path))
    found = Finding(path, "manifest", len(text))
    try:
        named = manifest.parse(text)
    except BadManifest as error:
        found.problem = str(error)
        yield found
        return
    paths = [path.parent / file.name for file in named.files]
    missing = [file.name for file in paths if not file.exists()]
    if missing:
        found.problem = f"it names what does not exist: {', '.join(missing)}"
    found.facts = [f"{len(paths)} files to load"]
    yield found
    for number, file in enumerate(paths):
        if file.exists():
            for part in check_file(file, files):
                if part.torn and any(map(files.size, paths[number + 1 :])):
                    part.torn = False  # more files follow it, so this is damage and no torn end
                yield part
