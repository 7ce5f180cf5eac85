"""What the pages show is what happens: transcripts, commands and programs, with a live server."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.compat.processes import ServerProcess, bulk, penstock_command, redis_tool
from tests.docs.pages import PAGES, PROGRAM, PROMPTED, RUN_ELSEWHERE, Block, blocks
from tests.docs.sessions import ENTRY_ID, Transcripts
from tests.ports import free_port

WAIT_S = 20.0
COMMANDS = "redis"
COMMENT = re.compile(r"\s+# .*$")
PRINTED = re.compile(r"^\s*print\(.*\)  # (.*)$", re.MULTILINE)
A_TEST = re.compile(r"^(?:async )?def test_|^@pytest\.fixture|^class \w+Test", re.MULTILINE)


def played(page: str) -> list[Block]:
    """The blocks of *page* that are run, in order. Tests for pytest have a test of their own."""
    return [
        block
        for block in blocks(page)
        if block.language in {PROMPTED, COMMANDS}
        or (
            block.language == PROGRAM
            and page not in RUN_ELSEWHERE
            and not A_TEST.search(block.text)
        )
    ]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    process = ServerProcess(penstock_command(), tmp_path)
    yield process
    process.stop()


@pytest.mark.parametrize("page", [page for page in PAGES if played(page)])
def test_the_blocks_of_a_page_do_what_it_shows(page: str, server: ServerProcess) -> None:
    transcripts = Transcripts(redis_tool("redis-cli"), server.port)
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        for block in played(page):
            try:
                if block.language == PROMPTED:
                    if transcripts.play(block.text):
                        until_one_waits(server)
                elif block.language == COMMANDS:
                    run_commands(block, server)
                else:
                    run_program(block, server.port, names)
            except Exception as error:
                raise AssertionError(f"{block}: {error}") from error
        transcripts.close()
    finally:
        transcripts.abort()
        for thing in names.values():
            leave(thing)


def leave(thing: object) -> None:
    """Close what a program has left open: a client of redis-py, or a process."""
    if isinstance(thing, redis.Redis):
        thing.close()
    elif isinstance(thing, subprocess.Popen):
        thing.terminate()
        thing.wait()


def until_one_waits(server: ServerProcess) -> None:
    """Wait until a client is blocked or subscribed, so that what follows comes after that."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        clients = bulk(server.control.call(b"CLIENT", b"LIST"))
        if re.search(rb" flags=\w*[bP]", clients):
            return
    raise AssertionError("no client waits")


def run_commands(block: Block, server: ServerProcess) -> None:
    """Run each command of *block*. An indented line continues the one before it."""
    for line in re.sub(r"\n\s+", " ", block.text).splitlines():
        words = shlex.split(COMMENT.sub("", line))
        if words:
            kind, reply = server.control.call(*(word.encode() for word in words))
            assert kind not in "-!", f"{line}: {reply!r}"


def run_program(block: Block, port: int, names: dict[str, object]) -> None:
    """Run *block* with the *names* that earlier ones have left; compare what it prints.

    ``print(...)  # text`` says what is printed. Only the ports of servers are other ones: that of
    the server that runs, and 7000, where programs start one themselves.
    """
    program = block.text.replace("localhost:6379", f"localhost:{port}")
    program = re.sub(r"\bRedis\((?=\))", f"Redis(port={port}", program)
    program = re.sub(r"\bRedis\((?=\w+=)(?!port=)", f"Redis(port={port}, ", program)
    program = program.replace('"7000"', f'"{free_port()}"')
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(program, str(block), "exec"), names)
    printed = [ENTRY_ID.sub("ID", line) for line in output.getvalue().splitlines()]
    assert printed == [ENTRY_ID.sub("ID", line) for line in PRINTED.findall(block.text)]
