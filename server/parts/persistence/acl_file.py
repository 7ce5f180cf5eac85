"""The aclfile on the disk: read as a whole, and replaced as a whole.

lines -> users.acl.tmp-<pid> -> sync    the old file stays complete
rename -> users.acl                     atomic: it is the old or the new one
sync of the directory                   the new one survives a power cut
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from server.parts.persistence.files import Files, write_all
from server.parts.persistence.snapshot_file import remove_quietly


def write_acl_file(files: Files, path: Path, lines: Sequence[bytes]) -> None:
    """Write *lines* to *path*, all or nothing. Raises OSError.

    Only the server's user may read a new file: it holds hashes of passwords.
    """
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    fd = files.create(temporary)
    try:
        os.fchmod(fd, mode)
        write_all(files, fd, b"".join(line + b"\n" for line in lines))
        files.sync(fd)
        files.rename(temporary, path)
    except OSError:
        remove_quietly(files, temporary)
        raise
    finally:
        files.close(fd)
    files.sync_directory(path.parent)
