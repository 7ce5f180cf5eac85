r"""The manifest of an append-only file: its files, and their order.

    file appendonly.aof.2.base.rdb seq 2 type b      a snapshot of the data; at most one
    file appendonly.aof.1.incr.aof seq 1 type h      history: no longer needed, to be removed
    file appendonly.aof.2.incr.aof seq 2 type i      what was written since, in this order
    file appendonly.aof.3.incr.aof seq 3 type i
    #crc64 0123456789abcdef                          of all lines before

A name with blanks is written in double quotes. Lines that begin with # are comments. Redis 8 writes
more pairs after the third; they are skipped.

Source: aof.c of Redis 7.0
"""

from __future__ import annotations

import re
from typing import NamedTuple

from protocol.inline import UnbalancedQuotes, split_words
from storage.rdb.crc64 import crc64

MAX_LINE = 1024  # characters, with the line end
BASE, HISTORY, INCREMENT = "b", "h", "i"
PLAIN_NAME = re.compile(r"[!#-&(-\[\]-~]+")  # printable, without blanks, quotes and backslashes
ESCAPES = {0x22: b'\\"', 0x5C: b"\\\\", 0x0A: b"\\n", 0x0D: b"\\r", 0x09: b"\\t"}  # in quotes

CHECKSUM = b"#crc64 "

BAD_FORMAT = "Invalid AOF manifest file format"
TOO_LONG = "The AOF manifest file contains too long line"
DAMAGED = "it is damaged: its checksum is another (if it was edited on purpose, remove that line)"

_NUMBER = re.compile(rb"[1-9][0-9]{0,18}")


class BadManifest(Exception):
    """The text is not a manifest; the message says in Redis's words what is wrong with it."""


class LogFile(NamedTuple):
    """One file of the AOF."""

    name: str
    seq: int
    kind: str


class Manifest(NamedTuple):
    """The files, and the highest sequence numbers ever used. Immutable."""

    base: LogFile | None = None
    increments: tuple[LogFile, ...] = ()
    history: tuple[LogFile, ...] = ()
    base_seq: int = 0
    increment_seq: int = 0

    @property
    def files(self) -> tuple[LogFile, ...]:
        """The files to load, in this order."""
        return (self.base, *self.increments) if self.base else self.increments

    def with_increment(self, stem: str) -> Manifest:
        """A copy with a new last increment; *stem* is the parameter appendfilename."""
        seq = self.increment_seq + 1
        fresh = LogFile(f"{stem}.{seq}.incr.aof", seq, INCREMENT)
        return self._replace(increments=(*self.increments, fresh), increment_seq=seq)

    def with_base(self, stem: str, snapshot: bool) -> Manifest:
        """A copy with a new base, which replaces all increments but the last."""
        seq = self.base_seq + 1
        name = f"{stem}.{seq}.base.{'rdb' if snapshot else 'aof'}"
        old = (self.base, *self.increments[:-1]) if self.base else self.increments[:-1]
        return self._replace(
            base=LogFile(name, seq, BASE),
            increments=self.increments[-1:],
            history=self.history + tuple(file._replace(kind=HISTORY) for file in old),
            base_seq=seq,
        )

    def without_history(self) -> Manifest:
        return self._replace(history=())

    def encode(self, checksum: bool = False) -> bytes:
        """The text, in Redis's order: base, history, increments; at the end the *checksum*."""
        bases = (self.base,) if self.base else ()
        text = b"".join(_line(file) for file in (*bases, *self.history, *self.increments))
        return text + _checksum_of(text) if checksum else text


def of_old_file(name: str) -> Manifest:
    """The manifest of an AOF that is a single file, as before Redis 7."""
    return Manifest(base=LogFile(name, 1, BASE), base_seq=1)


def parse(text: bytes) -> Manifest:
    """What *text* says. Raises BadManifest."""
    if not text:
        raise BadManifest("Found an empty AOF manifest")
    lines = text.split(b"\n")
    if lines.pop():
        raise BadManifest(f"{TOO_LONG}, or the last line is not complete")
    manifest = Manifest()
    at = 0
    for number, line in enumerate(lines, 1):
        try:
            if line.startswith(CHECKSUM) and line + b"\n" != _checksum_of(text[:at]):
                raise BadManifest(DAMAGED)
            at += len(line) + 1
            if not line.startswith(b"#"):
                manifest = _with_file(manifest, _file(line))
        except BadManifest as error:
            raise BadManifest(f"{error}, at line {number}: {line[:MAX_LINE]!r}") from None
    if not manifest.files:
        raise BadManifest("it names no files to load")
    seqs = [file.seq for file in manifest.history]  # no new file gets a name of one of these
    return manifest._replace(
        base_seq=max([manifest.base_seq, *seqs]),
        increment_seq=max([manifest.increment_seq, *seqs]),
    )


def _checksum_of(lines: bytes) -> bytes:
    return b"%b%016x\n" % (CHECKSUM, crc64(lines))


def _with_file(manifest: Manifest, file: LogFile) -> Manifest:
    if file.kind == BASE:
        if manifest.base is not None:
            raise BadManifest("Found duplicate base file information")
        return manifest._replace(base=file, base_seq=file.seq)
    if file.kind == HISTORY:
        return manifest._replace(history=(*manifest.history, file))
    if file.seq <= manifest.increment_seq:
        raise BadManifest("Found a non-monotonic sequence number")
    return manifest._replace(increments=(*manifest.increments, file), increment_seq=file.seq)


def _file(line: bytes) -> LogFile:
    if len(line) >= MAX_LINE:
        raise BadManifest(TOO_LONG)
    try:
        words = split_words(line)
    except UnbalancedQuotes:
        raise BadManifest(BAD_FORMAT) from None
    if len(words) < 6 or len(words) % 2:
        raise BadManifest(BAD_FORMAT)
    values = {name.lower(): value for name, value in zip(words[::2], words[1::2], strict=True)}
    name, seq, kind = (values.get(field, b"") for field in (b"file", b"seq", b"type"))
    if not name:
        raise BadManifest(BAD_FORMAT)
    if b"/" in name or name in (b".", b".."):
        raise BadManifest("File can't be a path, just a filename")
    if not _NUMBER.fullmatch(seq) or not kind:
        raise BadManifest(BAD_FORMAT)
    if kind not in (b"b", b"h", b"i"):
        raise BadManifest("Unknown AOF file type")
    return LogFile(name.decode("utf-8", "surrogateescape"), int(seq), kind.decode())


def _line(file: LogFile) -> bytes:
    name = file.name.encode("utf-8", "surrogateescape")
    if not PLAIN_NAME.fullmatch(file.name):
        name = b'"%b"' % b"".join(
            ESCAPES.get(byte) or (b"%c" % byte if 0x20 <= byte < 0x7F else b"\\x%02x" % byte)
            for byte in name
        )
    return b"file %b seq %d type %b\n" % (name, file.seq, file.kind.encode())
