"""The data set, made from the machine's package lists and package log, and this repository's log.

A record is the content of one entry of the stream: fields and values, all bytes. Its first two
fields are ``source``, where it is from, and ``number``, its place there. So no two records are
equal, and a record's digest shows whether it has arrived unchanged.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

Record = dict[bytes, bytes]

ROOT = Path(__file__).resolve().parent.parent.parent
DPKG_STATUS = Path("/var/lib/dpkg/status")
DPKG_LOG = Path("/var/log/dpkg.log")
PACKAGE_FIELDS = (b"Package", b"Version", b"Section", b"Installed-Size", b"Description")
COMMIT_FIELDS = (b"commit", b"author", b"date", b"subject")
LOG_FIELDS = (b"date", b"time", b"what")
DIGEST_SPACE = 1 << 64


def packages() -> Iterator[Record]:
    """The packages that apt lists; if it lists none, the installed ones."""
    text = _output("apt-cache", "dumpavail") or _content(DPKG_STATUS)
    for paragraph in text.split(b"\n\n"):
        pairs = (line.split(b": ", 1) for line in paragraph.split(b"\n") if b": " in line)
        fields = dict(pair for pair in pairs if pair[0] in PACKAGE_FIELDS)
        if fields:
            yield fields


def package_log() -> Iterator[Record]:
    """What dpkg did on this machine, one record for each line of its log."""
    for line in _content(DPKG_LOG).splitlines():
        yield dict(zip(LOG_FIELDS, line.split(b" ", 2), strict=False))


def commits() -> Iterator[Record]:
    """The commits of this folder's git repository; none if it is not a repository."""
    log = _output("git", "-C", str(ROOT), "log", "--format=%H%x00%an%x00%aI%x00%s")
    for line in log.splitlines():
        yield dict(zip(COMMIT_FIELDS, line.split(b"\0"), strict=False))


SOURCES: Mapping[str, Callable[[], Iterator[Record]]] = {
    "packages": packages,
    "package-log": package_log,
    "commits": commits,
}


def records(source: str, limit: int) -> Iterator[Record]:
    """At most *limit* records of a source, each with its source and number."""
    for number, record in enumerate(islice(SOURCES[source](), limit)):
        yield {b"source": source.encode(), b"number": b"%d" % number, **record}


def digest(record: Mapping[bytes, bytes]) -> int:
    """The digest of a record, as a number; the order of its fields does not matter."""
    whole = hashlib.sha256()
    for field in sorted(record):
        whole.update(b"%d:%b%d:%b" % (len(field), field, len(record[field]), record[field]))
    return int.from_bytes(whole.digest()[:8], "big")


def digest_of_all(digests: Iterable[int]) -> int:
    """The digest of a set of records; their order does not matter."""
    return sum(digests) % DIGEST_SPACE


def _output(*command: str) -> bytes:
    """The output of a command; empty if it fails or does not exist."""
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
