"""Which files belong to a path, and the check of each.

a file       an RDB, a file of commands, an RDB with commands behind it, or a manifest
a folder     the files that its manifest names, or the snapshot and the log below it
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from server.check.findings import Finding
from server.check.log_check import check_log
from server.check.snapshot_check import check_snapshot
from server.persistence import manifest
from server.persistence.files import Files
from server.persistence.log_loader import SNAPSHOT_MAGIC
from server.persistence.manifest import BadManifest

MANIFESTS = "*.manifest"


def check_path(path: Path, files: Files) -> Iterator[Finding]:
    """Check the files at *path*, one by one. Raises OSError."""
    if path.is_dir():
        yield from _check_folder(path, files)
    elif path.suffix == ".manifest":
        yield from _check_manifest(path, files)
    else:
        yield from check_file(path, files)


def check_file(path: Path, files: Files) -> Iterator[Finding]:
    """An RDB, commands, or both."""
    start = 0
    if bytes(files.read(path)[:6]).startswith(SNAPSHOT_MAGIC):
        found, start = check_snapshot(path, files)
        yield found
        if start == found.size:
            return
    yield check_log(path, files, start)


def _check_folder(path: Path, files: Files) -> Iterator[Finding]:
    manifests = sorted(file for file in path.glob(MANIFESTS) if not file.name.startswith("temp-"))
    snapshots = sorted(file for file in path.glob("*.rdb") if not file.name.startswith("temp-"))
    if manifests:
        for file in manifests:
            yield from _check_manifest(file, files)
        return
    for file in snapshots:
        yield from check_file(file, files)
    for folder in sorted(below.parent for below in path.glob(f"*/{MANIFESTS}")):
        yield from _check_folder(folder, files)


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
