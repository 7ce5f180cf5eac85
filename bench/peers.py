"""The servers that Penstock is compared with: those on PATH, and those in given folders.

A folder holds redis-server or valkey-server, or its ``bin`` does. If a version is found several
times, the first one is used.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.fetch_peers import RELEASES

PROGRAMS: Final = ("redis-server", "valkey-server")
ROOT: Final = Path(__file__).resolve().parent.parent
FETCHED: Final = ROOT / "build" / "peers"  # where `make peers` puts them
VERSION: Final = re.compile(r"(\w+) server v=(\S+)")


@dataclass(frozen=True)
class Peer:
    """A server to compare with: its *name*, with its version, and the *command* that starts it."""

    name: str
    command: str


def known_folders() -> list[Path]:
    """The folders in the environment's PENSTOCK_PEERS; without it, those of `make peers`."""
    named = [Path(part) for part in os.environ.get("PENSTOCK_PEERS", "").split(os.pathsep) if part]
    return named or [
        FETCHED / release.name for release in RELEASES if release.is_in(FETCHED / release.name)
    ]


def find_peers(folders: Sequence[Path]) -> list[Peer]:
    """All peers. Raises FileNotFoundError if one of *folders* holds none."""
    peers: dict[str, Peer] = {}
    for program in _programs(folders):
        peer = Peer(_name(program), shlex.quote(program))
        peers.setdefault(peer.name, peer)
    return list(peers.values())


def _programs(folders: Sequence[Path]) -> Iterator[str]:
    """The programs' paths, those on PATH first."""
    yield from filter(None, map(shutil.which, PROGRAMS))
    for folder in folders:
        path = os.pathsep.join((str(folder), str(folder / "bin")))
        found = [there for name in PROGRAMS if (there := shutil.which(name, path=path))]
        if not found:
            raise FileNotFoundError(f"neither {' nor '.join(PROGRAMS)} is in {folder}")
        yield from found


def _name(program: str) -> str:
    """The name and version that the program reports, such as ``Valkey 9.1.2``."""
    ran = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = VERSION.match(ran.stdout)
    return f"{found[1]} {found[2]}" if found else Path(program).name
