"""``penstock alias DIR``: an executable DIR/redis-server, for tools that look for one on PATH."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

from penstock.application import program_command

NAME = "redis-server"
MARK = "# Written by penstock alias."

SCRIPT = """\
#!/bin/sh
{mark} It starts Penstock as redis-server is started.
test -e {launcher} || {{
  echo "redis-server: Penstock was here:" {launcher} "Run penstock alias again." >&2
  exit 127
}}
exec {command} "$@"
"""


def make_alias(argv: list[str], command: str) -> int:
    """Write the file into the folder that *argv* names, and say so; the exit status.

    The output is its path alone. That a folder was missing, and was made, is said beside it.
    """
    if len(argv) != 1 or argv[0].startswith("-"):
        sys.stderr.write(f"Usage: {command} alias DIR\n")
        return 0 if argv[:1] in (["--help"], ["-h"]) else 2
    path = Path(argv[0]) / NAME
    is_new = not path.parent.exists()
    try:
        write_alias(path)
    except OSError as error:
        sys.stderr.write(f"penstock: {path}: {error.strerror or error}\n")
        return 1
    if is_new:
        sys.stderr.write(f"penstock: made the folder {path.parent}, which was not there\n")
    sys.stdout.write(f"{path}\n")
    return 0


def write_alias(path: Path) -> None:
    """Write the executable to *path*, in place of an older one of ours.

    Raises OSError, and FileExistsError if something else is there: a real redis-server, say.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(path) and not _is_ours(path):
        raise FileExistsError("something else is there, and stays")
    fd, new = tempfile.mkstemp(prefix=f".{NAME}-", dir=path.parent)
    try:
        with os.fdopen(fd, "w") as file:
            file.write(alias_text())
        Path(new).chmod(0o755)
        Path(new).replace(path)
    except BaseException:
        Path(new).unlink()
        raise


def alias_text() -> str:
    """The script: it needs no more of its environment than ``/bin/sh``."""
    words = program_command("redis-server")
    launcher = words[2]
    return SCRIPT.format(mark=MARK, launcher=shlex.quote(launcher), command=shlex.join(words))


def _is_ours(path: Path) -> bool:
    """Whether *path* is a file that this program has written, and no link."""
    with path.open("rb") as file:
        return not path.is_symlink() and MARK.encode() in file.read(200)
