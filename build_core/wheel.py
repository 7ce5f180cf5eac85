"""A wheel carries the application's folders inside the package penstock, compiled if that can be.

    penstock/                                   what others import
    penstock/_application/server/app.py         the application, as in the repository
    penstock/_application/storage/glob.py
    penstock/_application/modules.*             all its modules in two files: penstock/bundle.py
    pyspark_penstock/                           the Spark side

PENSTOCK_COMPILE in the environment: "no" leaves compilation out, "yes" lets the build fail where
it is not possible. By default such a wheel is made without compiled modules, and fits everywhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

from build_core.bundling import bundle, bundled, can_bundle
from build_core.compilation import compiled_file
from build_core.modules import PACKAGES, compiled_modules, obstacle

APPLICATION = Path("penstock", "_application")
# What the application is made of, besides its compiled modules; the last five: the console.
CARRIED = (".py", ".lua", ".html", ".css", ".js", ".json", ".svg")

UNCOMPILED = """\
**********************************************************************************
 Penstock is built WITHOUT its compiled core, so its server will be several times
 slower: {why}.
 Install what is missing, then build Penstock again.
**********************************************************************************
"""


class CarryApplication(build_py):  # type: ignore[misc]  # setuptools has no types
    """Puts the application beside the packages, unless they are only linked to."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        for package in self.distribution.packages:  # what an earlier build has left
            shutil.rmtree(Path(self.build_lib, package.partition(".")[0]), ignore_errors=True)
        super().run()
        compiled = compiled_modules() if self.distribution.has_ext_modules() else []
        together = bundled(compiled) if can_bundle() else []
        carry(application_files([m for m in compiled if m not in together]), Path(self.build_lib))
        if together:
            bundle(together, compiled, Path(self.build_lib, APPLICATION))


class CompiledWheel(bdist_wheel):  # type: ignore[misc]
    """A wheel for this interpreter and system, or for all if nothing can be compiled."""

    def run(self) -> None:
        compiled = compile_application()
        self.root_is_pure = not compiled
        self.distribution.has_ext_modules = lambda: compiled
        super().run()


def compile_application() -> bool:
    """Compile in place what is not compiled yet. Return False if the wheel is to be without.

    Exit if the environment asks for compiled modules that cannot be obtained.
    """
    wanted = os.environ.get("PENSTOCK_COMPILE", "")
    if wanted == "no":
        sys.stderr.write("Penstock is built without its compiled core: PENSTOCK_COMPILE=no\n")
        return False
    why_not = obstacle()
    if why_not is None:
        compiled = subprocess.run([sys.executable, "build_ext.py"], check=False)
        if compiled.returncode:
            sys.exit("Penstock's core did not compile; with PENSTOCK_COMPILE=no it is left out.")
        return True
    if wanted == "yes":
        sys.exit(f"Penstock's core cannot be compiled: {why_not}.")
    sys.stderr.write(UNCOMPILED.format(why=why_not))
    return False


def application_files(compiled: Iterable[str]) -> Iterator[Path]:
    """The application's files: what lies beside its modules, and those of *compiled*."""
    for package in PACKAGES:
        for path in sorted(Path(package).rglob("*")):
            if path.suffix in CARRIED:
                yield path
    yield from map(compiled_file, compiled)


def carry(files: Iterator[Path], library: Path) -> None:
    """Copy *files* to where they are in a wheel, below *library*."""
    for path in files:
        target = library / APPLICATION / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
