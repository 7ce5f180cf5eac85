"""Feed hostile bytes to the RDB codec: as payloads of RESTORE, and as whole files.

``python fuzz/rdb.py -max_total_time=60`` does so for a minute; it needs atheris.

What is let in must be whole: it can be written, what was written reads as the same, and every
command that reads a value can read it. Any exception but the codec's refusals is a bug. The plain
Python guides the fuzzer, as compiled code cannot; the compiled one, where there is one, has to
agree with it byte by byte.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import atheris

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

CORPUS = ROOT / "build" / "fuzz" / "rdb"  # what the fuzzer found worth keeping, from run to run

PACKAGE = "storage"
LONGEST = 4096  # bytes; what a fuzzer finds, it finds in few


def is_storage(name: str) -> bool:
    """Whether that is the name of a module of storage."""
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")


class PlainFinder:
    """Finds the modules of storage in their sources, even if they have been compiled."""

    @staticmethod
    def find_spec(name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        if not is_storage(name):
            return None
        place = ROOT.joinpath(*name.split("."))
        source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        inside = [str(place)] if place.is_dir() else None
        return spec_from_file_location(name, source, submodule_search_locations=inside)


class Codec(NamedTuple):
    """The modules of one build."""

    payload: ModuleType
    snapshot: ModuleType
    options: ModuleType
    refusals: tuple[type[Exception], ...]


def load_codec() -> Codec:
    """The codec and all that it stands on, imported afresh."""
    for name in list(filter(is_storage, sys.modules)):
        del sys.modules[name]
    payload, snapshot, options = (
        import_module(f"storage.rdb.{name}") for name in ("payload", "snapshot", "options")
    )
    return Codec(payload, snapshot, options, (import_module("storage.errors").StorageError,))


def instrument() -> None:
    """Let the fuzzer see which ways the code of storage goes."""
    for name, module in list(sys.modules.items()):
        if is_storage(name):
            classes = [thing for thing in vars(module).values() if isinstance(thing, type)]
            for owner in (module, *classes):
                if getattr(owner, "__module__", PACKAGE).startswith(PACKAGE):
                    instrument_functions(owner)


def instrument_functions(owner: Any) -> None:
    for name, function in list(vars(owner).items()):
        if isinstance(function, FunctionType):
            setattr(owner, name, atheris.instrument_func(function))


def load_plain() -> Codec:
    sys.meta_path.insert(0, PlainFinder)
    try:
        codec = load_codec()
        instrument()
    finally:
        sys.meta_path.remove(PlainFinder)
    return codec


plain = load_plain()
as_built = load_codec()
readers = import_module("readers")  # the server that they belong to takes what was built
reading = readers.Reading()


def restored(codec: Codec, body: bytes) -> bytes | None:
    """What RESTORE and DUMP make of *body*; None if it is refused."""
    crc64 = codec.payload.crc64
    body += (10).to_bytes(2, "little")
    try:
        value = codec.payload.restore(body + crc64(body).to_bytes(8, "little"))
    except codec.refusals:
        return None
    dumped: bytes = codec.payload.dump(value)
    assert codec.payload.dump(codec.payload.restore(dumped)) == dumped
    if codec is as_built:
        reading.read(value)
    return dumped


def loaded(codec: Codec, data: bytes) -> list[object] | None:
    """What a file of those bytes holds; None if it is refused."""
    try:
        records = list(codec.snapshot.SnapshotReader(data, codec.options.ReadOptions(False)))
    except codec.refusals:
        return None
    seen: list[object] = []
    for r in records:
        seen.append((r.db, r.key, r.expiry_ms, r.idle_s, r.freq, codec.payload.dump(r.value)))
        if codec is as_built:
            reading.read(r.value, r.expiry_ms, r.idle_s)
    return seen


def test_one(data: bytes) -> None:
    """The fuzzer's entry: any exception is a finding."""
    data = data[:LONGEST]
    assert restored(plain, data) == restored(as_built, data)
    file = b"REDIS0010" + data
    assert loaded(plain, file) == loaded(as_built, file)


def sow(folder: Path) -> None:
    """Write values into *folder* for the fuzzer to start from."""
    stream = import_module("storage.stream.stream").Stream()
    make_id = import_module("storage.stream.stream_id").StreamId
    for seq in range(3):
        stream.append(make_id(5, seq + 1), [b"field", b"%d" % seq])
    stream.delete(make_id(5, 2))
    group = stream.create_group(b"group", make_id(5, 1))
    group.deliver(make_id(5, 3), group.create_consumer(b"alice", 1), 1)
    group.deliver(make_id(5, 1), group.create_consumer(b"bob", readers.MAX), readers.MIN)
    made = import_module("storage.lists.quicklist").QuickList(2)
    for element in (b"a", b"12", b"abc" * 30):
        made.push_right(element)
    for number, value in enumerate((b"text", 12, b"abc" * 30, made, stream)):
        payload = as_built.payload.dump(value)[: -as_built.payload.FOOTER]
        (folder / f"payload-{number}").write_bytes(payload)
        (folder / f"file-{number}").write_bytes(payload[:1] + b"\x01k" + payload[1:] + b"\xff")


if __name__ == "__main__":
    CORPUS.mkdir(parents=True, exist_ok=True)
    sow(CORPUS)
    atheris.Setup([*sys.argv, str(CORPUS)], test_one)
    atheris.Fuzz()
