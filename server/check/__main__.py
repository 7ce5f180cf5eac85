"""Check data files and say what is in them: ``penstock check [--fix] PATH ...``

In a checkout also ``python -m server.check``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from server.check.findings import Finding
from server.check.folder_check import check_path
from server.check.report import lines_of
from server.parts.persistence.files import Files
from server.parts.persistence.folder_lock import LOCK_NAME, FolderLock

YES = ("y", "yes")

DESCRIPTION = """\
Check data files and say what is in them. PATH is an RDB, an append-only file, its manifest, or a
server's data folder. What is not damaged is loaded as at a start. Nothing is changed; with --fix a
torn end is cut off, after asking. The exit status is 1 if a file is damaged, if a start refuses it
or would lose some of it, or if there are no data; 2 if it could not be read.
"""


def main(
    argv: list[str],
    program: str = "python -m server.check",
    ask: Callable[[str], str] = input,
    files: Files | None = None,
) -> int:
    """Check the named paths; return the exit status. *ask* puts a question to the user.

    *program* is what the user has called, for the usage text.
    """
    options = _options(argv, program)
    system = files or Files()
    lock = FolderLock(system)
    status = 0
    for path in options.paths:
        try:
            if options.fix:
                _claim(path.absolute(), lock, system)
            for found in check_path(path, system, options.databases):
                for line in lines_of(found, options.streams):
                    sys.stdout.write(line + "\n")
                if not found.is_whole and not (options.fix and _fix(found, ask, system)):
                    status = max(status, 1)
        except BrokenPipeError:  # of what is printed
            raise
        except OSError as error:
            sys.stderr.write(f"{path}: {error.strerror or error}\n")
            status = 2
    lock.release()
    return status


def _claim(path: Path, lock: FolderLock, files: Files) -> None:
    """Lock the folders of *path* against servers.

    Raises FolderInUse if a server runs there: what looks torn is what it is writing.
    """
    for folder in (path, *path.parents[:2]):  # an AOF lies in a folder below that of the server
        if files.exists(folder / LOCK_NAME) and not lock.holds(folder):
            lock.take(folder)


def _options(argv: list[str], program: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(program, description=DESCRIPTION)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--fix", action="store_true", help="cut a torn end off, after asking")
    parser.add_argument("--databases", type=int, default=16, help="of the server that starts")
    parser.add_argument("--streams", type=int, default=20, help="how many streams to show")
    return parser.parse_args(argv)


def _fix(found: Finding, ask: Callable[[str], str], files: Files) -> bool:
    """Cut off the end of a file that is torn, if the user agrees."""
    if not found.torn:
        return False
    lost = found.size - found.offset
    answer = ask(f"Cut the last {lost} of {found.size} bytes off {found.path}? [y/N] ")
    if answer.strip().lower() not in YES:
        return False
    fd = files.open_to_append(found.path)
    try:
        files.truncate(fd, found.offset)
        files.sync(fd)
    finally:
        files.close(fd)
    sys.stdout.write(f"{found.path}: cut at {found.offset}\n")
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
