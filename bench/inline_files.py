"""What each file of inline functions gives: ``python -m bench.inline_files [name ...]``.

A .pxd that begins with ``# inline only`` is written twice, in C's types and in plain Python, which
has to be worth it. Here the modules that use such a file are compiled once more, with its functions
marked as ``noipa``: gcc neither inlines them nor looks into them. callgrind counts the instructions
that each row of request_rows.py needs then, and without the marks. The share that is more is what
the file gives to the row by being inline, or somewhat less than that: a function in a module of its
own would be called through a table, too.

It needs ``make build``, and valgrind with its headers. What is compiled stays in build/inline.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

from build_core.compilation import SUFFIX, compile_all, compiled_file, must_compile, put_in_place
from build_core.modules import compiled_modules, declared_modules, inlined_only
from build_core.variants import NORMAL, Variant

FOLDER = Path("build", "inline")
UNMARKED = "unmarked"
COUNT = "--count"
PROCESSES = 2
SHOWN = 3  # rows of each file
NOISE = 0.015  # two runs of the same code differ by up to 1.4 %, in rows of few instructions

MARKS = r"""
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; }
void toggle(void) { CALLGRIND_TOGGLE_COLLECT; }
void dump(const char *row) { CALLGRIND_DUMP_STATS_AT(row); }
"""
_TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.MULTILINE)
_ROW = re.compile(r"^desc: Trigger: Client Request: (.*)$", re.MULTILINE)


# ---------------------------------------------------------------------- compiling


def c_name(module: str) -> str:
    """How the C names of the functions of *module* begin."""
    return "__pyx_f_" + "".join(f"{len(part)}{part}_" for part in module.split("."))


def c_file(module: str) -> Path:
    return NORMAL.c_files.joinpath(*module.split(".")).with_suffix(".c")


def users(file: str) -> list[str]:
    """The compiled modules in whose C there are functions of *file*."""
    return [name for name in compiled_modules() if c_name(file) in c_file(name).read_text()]


def marked(c: str, file: str) -> str:
    """*c*, in which no function of *file* is inlined."""
    function = rf"^static CYTHON_INLINE (?=[^;{{]*\b{c_name(file)}\w+\()"
    return re.sub(function, "static __attribute__((noipa)) ", c, flags=re.MULTILINE)


def compile_marked(file: str) -> Path:
    """Compile the users of *file*; return the folder of these modules."""
    folder = FOLDER / file
    variant = Variant(file, folder / "c", folder / "objects", folder / "modules")
    sources = {}
    for module in users(file):
        source = variant.c_files.joinpath(*module.split(".")).with_suffix(".c")
        c = marked(c_file(module).read_text(), file)
        if not source.exists() or source.read_text() != c:
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(c)
        sources[module] = source
    compile_all(
        {module: c for module, c in sources.items() if must_compile(module, c, variant)},
        variant,
        PROCESSES,
        lambda module: print(f"{file}: {module}", flush=True),
    )
    put_in_place(sources, variant)
    for path in Path("server").rglob("*.lua"):  # which is looked for beside its module
        copy = variant.modules / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return variant.modules


# ---------------------------------------------------------------------- counting


class FromFolder(MetaPathFinder):
    """Lets compiled modules that are in *folder* be found there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        path = self._folder / (name.replace(".", "/") + SUFFIX)
        return spec_from_file_location(name, path) if path.exists() else None


def run_rows(folder: Path) -> None:
    """Run all rows, under callgrind, with the modules in *folder*."""
    os.urandom = bytes  # every run has the same seeds
    sys.meta_path.insert(0, FromFolder(folder))
    from bench.request_rows import ROWS, filled_server  # noqa: PLC0415  (now they are found)

    marks = ctypes.CDLL(str(FOLDER.absolute() / "marks.so"))
    server = filled_server()
    marks.start()
    for row in ROWS:
        for turn, (call, requests) in enumerate(row.turns(server)):
            if turn:
                marks.toggle()
            call()
            if turn:
                marks.toggle()
                counted = requests
        marks.dump(f"{counted * turn} {row.name}".encode())


def compile_marks() -> None:
    source = FOLDER / "marks.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(MARKS)
    compiler = sysconfig.get_config_var("CC").split()
    command = [*compiler, "-shared", "-fPIC", str(source), "-o", str(FOLDER / "marks.so")]
    subprocess.run(command, check=True)


def instructions(name: str, folder: Path) -> dict[str, float]:
    """The instructions of a request, or of a key, of each row: with the modules in *folder*."""
    out = FOLDER / name / "counts"
    out.parent.mkdir(exist_ok=True)
    for old in out.parent.glob("counts*"):
        old.unlink()
    options = ["--instr-atstart=no", "--collect-atstart=no", f"--callgrind-out-file={out}", "-q"]
    command = ["valgrind", "--tool=callgrind", *options, sys.executable, "-m", __spec__.name]
    environment = {"PYTHONHASHSEED": "0", "PATH": "/usr/bin:/bin"}
    subprocess.run([*command, COUNT, str(folder)], env=environment, check=True)
    return dict(_counts(out.parent.glob("counts.*")))


def _counts(dumps: Iterator[Path]) -> Iterator[tuple[str, float]]:
    for dump in sorted(dumps, key=lambda path: int(path.name.rpartition(".")[2])):
        text = dump.read_text()
        row, total = _ROW.search(text), _TOTAL.search(text)
        if row and total:
            requests, _, name = row[1].partition(" ")
            yield name, int(total[1]) / int(requests)


# ---------------------------------------------------------------------- the table


def line(file: str, plain: dict[str, float], without: dict[str, float]) -> str:
    """A line of the table: the rows to which *file* gives most."""
    more = {row: without[row] / plain[row] - 1 for row in plain}
    most = sorted(more, key=lambda row: -more[row])[:SHOWN]
    size = len(Path(*file.split(".")).with_suffix(".pxd").read_text().splitlines())
    gives = ", ".join(f"{row} {more[row]:.1%}" for row in most if more[row] > NOISE)
    return f"| `{file}` | {size} | {len(users(file))} | {gives or f'less than {NOISE:.1%}'} |"


def main(files: list[str]) -> None:
    compile_marks()
    plain = instructions(UNMARKED, FOLDER / UNMARKED)
    lines = [
        "| file | lines | used by | without it, more instructions |",
        "| --- | --- | --- | --- |",
    ]
    for file in files or [name for name in declared_modules() if inlined_only(name)]:
        lines.append(line(file, plain, instructions(file, compile_marked(file))))
        print(lines[-1], flush=True)
    for row, count in plain.items():
        print(f"{count:12,.0f}  {row}")
    print("\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:2] == [COUNT]:
        run_rows(Path(sys.argv[2]))
    else:
        assert compiled_file(compiled_modules()[0]).exists(), "make build comes first"
        main(sys.argv[1:])
