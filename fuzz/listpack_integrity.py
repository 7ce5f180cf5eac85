"""Feed hostile bytes to the listpack's check.

``python fuzz/listpack_integrity.py -max_total_time=60`` does so for a minute; it needs atheris.

What the check lets pass must be a listpack: it can be walked both ways, written out again as it was
and changed at every place. Any exception but Corrupt is a bug. The plain Python guides the fuzzer,
as compiled code cannot; the compiled one, where there is one, has to agree with it byte by byte.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import atheris

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from storage.errors import Corrupt  # noqa: E402
from storage.listpack import listpack as as_built  # noqa: E402  the path has to be set first


def load_plain() -> ModuleType:
    """storage.listpack.listpack from its source, even if it has been compiled."""
    spec = spec_from_file_location("plain_listpack", ROOT / "storage" / "listpack" / "listpack.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    for owner in (module, module.Listpack, module.element_octets):
        for name, function in list(vars(owner).items()):
            if isinstance(function, FunctionType):
                setattr(owner, name, atheris.instrument_func(function))
    return module


plain = load_plain()


def walk_and_change(module: Any, data: bytes) -> list[object] | None:
    """All that can be seen of *data* as a listpack; None if it is refused."""
    try:
        listpack = module.Listpack.load(data)
        listpack.check()
    except Corrupt:
        return None
    assert listpack.dump() == data
    seen: list[object] = list(listpack)
    backward = []
    at = listpack.last()
    while at != -1:
        backward.append(listpack.get(at))
        at = listpack.prev(at)
    assert backward == seen[::-1]
    assert len(listpack) == len(seen)
    for index in range(0, len(seen), max(len(seen) // 8, 1)):
        listpack.replace(listpack.seek(index), data[:100])
        listpack.delete(listpack.seek(-1 - index))
        listpack.prepend(b"%d" % index)
        listpack.check()
        seen.append(listpack.dump())
    return seen


def test_one(data: bytes) -> None:
    """The fuzzer's entry: any exception is a finding."""
    for candidate in (data, (len(data) + 7).to_bytes(4, "little") + b"\xff\xff" + data + b"\xff"):
        assert walk_and_change(plain, candidate) == walk_and_change(as_built, candidate)


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one)
    atheris.Fuzz()
