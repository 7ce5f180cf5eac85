"""A zygote process: it imports once what streaming sources need, and forks for each query.

Spark starts a new interpreter for each streaming query, which spends most of a second on imports.
The tests' session runs hundreds of queries, so it forks that process instead. The fork gets the
environment, folder, output and signals that Spark set. Programs that tests start do not use it.

python -m tests.spark.zygote SOCKET, which ends with its standard input.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import shlex
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLIENT = Path(__file__).with_name("zygote_client.py")
RUNNER = "pyspark.sql.streaming.python_streaming_source_runner"
INTERPRETER = """\
#!/bin/sh
if [ "$2" = {runner} ]; then exec {python} -I -S {client} {address}; fi
exec {other} "$@"
"""


@contextmanager
def interpreter_with_zygote(folder: Path, other: str) -> Iterator[str]:
    """An interpreter for Spark that uses the zygote for streaming sources, and else *other*."""
    address, path = folder / "zygote", folder / "python"
    words = {"python": sys.executable, "client": CLIENT, "address": address, "other": other}
    quoted = {name: shlex.quote(str(word)) for name, word in words.items()}
    path.write_text(INTERPRETER.format(runner=RUNNER, **quoted))
    path.chmod(0o755)
    command = [sys.executable, "-m", "tests.spark.zygote", str(address)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as zygote:
        assert zygote.stdout is not None
        assert zygote.stdout.readline() == b"ready\n"
        yield str(path)


def serve(address: str) -> None:
    """Fork a process for each connection, until standard input ends."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while select.select([listener, sys.stdin], [], [])[0] == [listener]:
            connection, _ = listener.accept()
            with connection:
                fork(connection)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass  # a fork that has ended


def fork(connection: socket.socket) -> None:
    """Fork a process as the client asks, and send the client its id."""
    text, streams, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while part := connection.recv(1 << 16):
        text += part
    child = os.fork()
    if child == 0:
        become(json.loads(text), streams)
    connection.sendall(str(child).encode())
    for stream in streams:
        os.close(stream)


def become(process: dict[str, dict[str, str]], streams: list[int]) -> None:
    """Run as the process that Spark wanted to start. The connection closes when it ends."""
    for standard, stream in enumerate(streams):
        os.dup2(stream, standard)
    os.environ.clear()
    os.environ.update(process["environment"])
    try:
        runpy.run_module(RUNNER, run_name="__main__", alter_sys=True)
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


if __name__ == "__main__":
    import pyspark.sql.streaming.python_streaming_source_runner  # noqa: F401

    gc.freeze()
    serve(sys.argv[1])
