"""Fetch Redis 8.0 and 8.6, and Valkey 9.1: ``make peers``.

``python -m bench.fetch_peers build/peers`` does the same. The packages are those of later Debian
releases, from the mirror that apt uses anyway. Each release has a folder of its own. Its packages
are unpacked there, together with the libraries that they need, including the C library. Nothing is
installed, and nothing in the system changes. The folder's ``bin`` then holds a small script for
each program, which starts it with those libraries. What is there already is not fetched again.

If there is no apt, or no mirror answers, the program prints one line for each release that is
missing, and exits with status 1.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PATIENCE_S: Final = 300


class CannotFetchError(Exception):
    """The peers cannot be fetched; the text says why."""


@dataclass(frozen=True)
class Release:
    """A release of Debian: its *name*, the *packages* to take, and the *servers* in them.

    What the packages depend on comes from the releases in *base*, if it is not in their own.
    """

    name: str
    packages: tuple[str, ...]
    servers: tuple[str, ...]
    base: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The release and its servers, for people."""
        return f"{self.name}'s {' and '.join(self.servers)}"

    def is_in(self, folder: Path) -> bool:
        """Whether *folder* holds all servers of this release."""
        return all(os.access(folder / "bin" / server, os.X_OK) for server in self.servers)


RELEASES: Final = (
    # Redis 8.0 and Valkey 9.1
    Release(
        "forky",
        ("redis-server", "redis-tools", "valkey-server", "valkey-tools"),
        ("redis-server", "valkey-server"),
    ),
    # Redis 8.6
    Release(
        "experimental",
        ("redis-server/experimental", "redis-tools/experimental"),
        ("redis-server",),
        base=("sid",),
    ),
)


def main(folder: Path) -> int:
    """Put the peers into *folder*, which is created if it does not exist."""
    return max([_bring(release, folder / release.name) for release in RELEASES])


def _bring(release: Release, folder: Path) -> int:
    """Put the servers of *release* into *folder*; 1 if they cannot be fetched."""
    if release.is_in(folder):
        return 0
    try:
        fetch(release, folder.resolve())
    except (CannotFetchError, OSError, subprocess.TimeoutExpired) as error:
        print(f"{release.title} not fetched: {error}", file=sys.stderr)
        return 1
    for name in release.servers:
        print(_output([str(folder / "bin" / name), "--version"]).strip())
    return 0


def fetch(release: Release, folder: Path) -> None:
    """Download, unpack, and write the scripts. Raises CannotFetchError."""
    if missing := [tool for tool in ("apt-get", "dpkg", "dpkg-deb") if not shutil.which(tool)]:
        raise CannotFetchError(f"there is no {' nor '.join(missing)}")
    with tempfile.TemporaryDirectory() as scratch:
        apt = Apt(Path(scratch), _mirror(), (release.name, *release.base))
        root = folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        for package in apt.download(release.packages):
            _output(["dpkg-deb", "--extract", str(package), str(root)])
    _write_scripts(root, folder / "bin")


def _mirror() -> str:
    """The first address from which apt takes packages of Debian."""
    targets = _output(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    )
    found = [address for address in targets.split() if "security" not in address]
    if not found:
        raise CannotFetchError("apt has no mirror")
    return found[0]


class Apt:
    """apt for *releases*, with its own lists, cache and status in *scratch*."""

    def __init__(self, scratch: Path, mirror: str, releases: tuple[str, ...]) -> None:
        self._archives = scratch / "archives"
        (self._archives / "partial").mkdir(parents=True)
        (scratch / "lists" / "partial").mkdir(parents=True)
        (scratch / "status").touch()
        sources = scratch / "sources.list"
        sources.write_text("".join(f"deb {mirror} {release} main\n" for release in releases))
        settings = {
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "-",
            "Dir::State": scratch,
            "Dir::State::lists": scratch / "lists",
            "Dir::State::status": scratch / "status",
            "Dir::Cache": scratch,
            "Dir::Cache::archives": self._archives,
            "APT::Architectures": _output(["dpkg", "--print-architecture"]).strip(),
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
        }
        self._options = [
            word for item in settings.items() for word in ("-o", f"{item[0]}={item[1]}")
        ]

    def download(self, names: tuple[str, ...]) -> list[Path]:
        """*names* and all that they depend on, as files."""
        self._run("update")
        self._run("install", "--download-only", "--yes", "--no-install-recommends", *names)
        return sorted(self._archives.glob("*.deb"))

    def _run(self, *words: str) -> None:
        _output(["apt-get", "-qq", *self._options, *words])


def _write_scripts(root: Path, programs: Path) -> None:
    """Write a script for each program of Redis and Valkey in *root*."""
    programs.mkdir(exist_ok=True)
    libraries = sorted({str(path.parent) for path in root.glob("usr/lib/*/*.so*")})
    loader = next(root.glob("usr/lib/*/ld-linux*.so.*"))
    for program in sorted(root.glob("usr/bin/redis-*")) + sorted(root.glob("usr/bin/valkey-*")):
        start = [str(loader), "--argv0", program.name, "--library-path", ":".join(libraries)]
        script = programs / program.name
        script.write_text(f'#!/bin/sh\nexec {shlex.join([*start, str(program)])} "$@"\n')
        script.chmod(0o755)


def _output(command: list[str]) -> str:
    """The output of *command*. Raises CannotFetchError, with the last line, if it fails."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
        check=False,
    )  # fmt: skip
    if done.returncode:
        words = done.stderr.strip().splitlines() or [f"{command[0]} failed"]
        raise CannotFetchError(words[-1])
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
