"""Which files a path names, and an append-only file as an RDB.

    dumps/*.rdb           all that match
    dumps                 a folder: its *.rdb
    data                  a folder with an AOF: appendonlydir with a manifest
    data/appendonlydir    the same
    old/appendonly.aof    an AOF of one file, as before Redis 7

What an AOF leaves is known only when its commands have run. So the task of an AOF copies it into a
folder of its own, has a server of this package load it there, and reads the RDB that the server
saves. That process serves a socket file in this folder, which only this user may enter, and no
port. It ends before the rows are read, and with the task, however that ends. It needs the memory
that the data need, and the folder (see TMPDIR) the size of the log and of the RDB. The log itself
is only read; it may be torn at its end.
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path

import redis

from penstock.application import server_command
from penstock.testing.errors import StartFailed
from penstock.testing.process import ServerProcess
from pyspark_penstock.errors import DumpError, OptionError
from pyspark_penstock.names import readable

MANIFEST = ".manifest"
LOG = ".aof"
LOG_FOLDER = "appendonlydir"
SNAPSHOTS = "*.rdb"
SCHEME = "file:"
DATABASES = "256"


def files_of(path: str) -> list[str]:
    """The files that *path* names, sorted; a folder stands for its AOF.

    Raises OptionError if there is none.
    """
    local = path.removeprefix(SCHEME).replace("//", "/", 1) if path.startswith(SCHEME) else path
    if "://" in local:
        raise OptionError(f"path={path!r}: must be a path that all tasks see as a local one")
    found = [file for name in sorted(glob.glob(local)) for file in of_one(name)]
    if not found:
        raise OptionError(f"path={path!r}: there is no RDB, and no folder with an AOF")
    return found


def of_one(name: str) -> list[str]:
    """The files of one name that matched."""
    if not os.path.isdir(name):
        return [name]
    for folder in (name, os.path.join(name, LOG_FOLDER)):
        if glob.glob(os.path.join(glob.escape(folder), "*" + MANIFEST)):
            return [folder]
    old = os.path.join(name, "appendonly" + LOG)
    snapshots = sorted(glob.glob(os.path.join(glob.escape(name), SNAPSHOTS)))
    return [old] if os.path.isfile(old) else snapshots


@contextmanager
def readable_file(file: str) -> Iterator[str]:
    """The path of *file* as an RDB. Raises DumpError."""
    if not is_log(file):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        try:
            stem = copied(Path(file), Path(folder))
        except OSError as error:
            raise DumpError(f"{readable(file)}: {error.strerror}") from None
        save_loaded(file, folder, stem)
        yield os.path.join(folder, "loaded.rdb")


def is_log(file: str) -> bool:
    """Whether *file* is an AOF: a folder, or a file that is called so, or holds commands."""
    if os.path.isdir(file) or file.endswith(LOG):
        return True
    try:
        with Path(file).open("rb") as opened:
            return opened.read(1) in (b"*", b"#")
    except OSError:
        return False  # the error is told when it is read


def copied(log: Path, folder: Path) -> str:
    """Copy an AOF to where a server in *folder* looks for it; what its files are called."""
    if not log.is_dir():
        shutil.copyfile(log, folder / "appendonly.aof")
        return "appendonly.aof"
    (manifest,) = sorted(log.glob("*" + MANIFEST))[:1]
    (folder / LOG_FOLDER).mkdir()
    for path in log.iterdir():
        if path.is_file():
            shutil.copyfile(path, folder / LOG_FOLDER / path.name)
    return manifest.name.removesuffix(MANIFEST)


def save_loaded(file: str, folder: str, stem: str) -> None:
    """Let a server load the AOF in *folder*, and save an RDB there. Raises DumpError."""
    socket = os.path.join(folder, "socket")
    options = {
        "--port": "0", "--unixsocket": socket, "--unixsocketperm": "600", "--dir": folder,
        "--appendonly": "yes", "--appendfilename": stem, "--appenddirname": LOG_FOLDER,
        "--dbfilename": "loaded.rdb", "--save": "", "--databases": DATABASES,
        "--auto-aof-rewrite-percentage": "0", "--maxmemory": "0",
    }  # fmt: skip
    command = server_command(*[word for option in options.items() for word in option])
    process = ServerProcess(command, Path(folder))
    try:
        process.wait_until(partial(is_loaded, socket), timeout_s=inf)
        with redis.Redis(unix_socket_path=socket) as client:
            client.save()
    except (StartFailed, redis.RedisError) as error:
        told = process.last_words().splitlines()
        why = next((line for line in reversed(told) if "append only" in line), str(error))
        raise DumpError(f"{readable(file)}: {readable(why)}") from None
    finally:
        process.stop(keeps_folder=True)


def is_loaded(socket: str) -> bool:
    """Whether the server has loaded everything."""
    with suppress(redis.ConnectionError), redis.Redis(unix_socket_path=socket) as client:
        return bool(client.ping())
    return False
