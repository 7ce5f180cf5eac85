"""A transcript of redis-cli is played by the real redis-cli, and its replies are compared.

In a block of the language ``redis-cli``, a line with a prompt is a command, and the lines below it
are the reply. A command at the end of a block that has no reply waits; the reply is then in a
later block that begins without a prompt. What is between them is done by another redis-cli.

These parts of a reply may differ from the page:
- ids of entries, if the same id of the page is always the same id here; commands that name it get
  the one that it has here
- integers of four digits and more, which are times
- how long redis-cli waited: ``(3.51s)``
"""

from __future__ import annotations

import queue
import re
import subprocess
import threading

from tests.docs.pages import PROMPT

ENTRY_ID = re.compile(r"\b\d{13}-\d+\b")
TIME = re.compile(r"\(integer\) \d{4,}")
REPLY_S = 20.0
SILENT = re.compile(r"^Reading messages\.\.\.|^\(\d+\.\d\ds\)$")


class Session:
    """A redis-cli that reads commands from a pipe."""

    def __init__(self, program: str, port: int) -> None:
        self._process = subprocess.Popen(
            [program, "--no-raw", "-p", str(port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not SILENT.match(line):
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def send(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

    def line(self) -> str:
        """The next line of a reply. Raises AssertionError if none comes."""
        try:
            line = self._lines.get(timeout=REPLY_S)
        except queue.Empty:
            raise AssertionError("the reply is shorter than the page says") from None
        assert line is not None, "redis-cli has ended"
        return line

    def close(self) -> list[str]:
        """End redis-cli, and return what it printed beyond the replies that were asked for."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        if not self._ends_by_itself():
            self._process.terminate()
            self._process.wait()
        rest = []
        while (line := self._lines.get()) is not None:
            rest.append(line)
        self._process.stdout.close()
        return [line for line in rest if line]

    def _ends_by_itself(self) -> bool:
        """Whether it ends when it has no more commands: not while it waits, or has subscribed."""
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            return False
        return True


class Transcripts:
    """The transcripts of one page, in order, with one server."""

    def __init__(self, program: str, port: int) -> None:
        self._program = program
        self._port = port
        self._ids: dict[str, str] = {}
        self._free: Session | None = None
        self._waiting: Session | None = None

    def play(self, text: str) -> bool:
        """Play one block; whether its last command waits now for what other sessions do.

        Raises AssertionError for a reply that is not the page's.
        """
        lines = text.splitlines()
        if not PROMPT.match(lines[0]):
            assert self._waiting is not None, "a block of replies, and nothing waits"
            self._compare(self._waiting, lines)
            waiting, self._waiting = self._waiting, None
            assert waiting.close() == []
            return False
        if self._free is None:
            self._free = Session(self._program, self._port)
        for command, reply in steps(lines):
            self._free.send(ENTRY_ID.sub(self._id_here, command))
            self._compare(self._free, reply)
        if reply and not command.upper().startswith(("SUBSCRIBE ", "PSUBSCRIBE ")):
            return False
        assert self._waiting is None, "two sessions wait"
        self._waiting, self._free = self._free, None
        return True

    def close(self) -> None:
        """End all sessions. Raises AssertionError if a reply was longer than the page says."""
        assert self._waiting is None, "a command of the page still waits"
        free, self._free = self._free, None
        assert free is None or free.close() == []

    def abort(self) -> None:
        """End all sessions, whatever they have to say."""
        for session in (self._free, self._waiting):
            if session is not None:
                session.close()
        self._free = self._waiting = None

    def _compare(self, session: Session, expected: list[str]) -> None:
        for shown in expected:
            if SILENT.match(shown):
                continue
            here = session.line()
            assert without_times(here) == without_times(shown), f"{here!r}, not {shown!r}"
            for id_shown, id_here in zip(
                ENTRY_ID.findall(shown), ENTRY_ID.findall(here), strict=True
            ):
                known = self._ids.setdefault(id_shown, id_here)
                assert known == id_here, f"{id_shown} was {known} before, and is {id_here}"

    def _id_here(self, found: re.Match[str]) -> str:
        return self._ids.get(found[0], found[0])


def without_times(line: str) -> str:
    """A *line* of a reply without what differs from one time to another."""
    return TIME.sub("(integer) TIME", ENTRY_ID.sub("ID", line))


def steps(lines: list[str]) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines of its reply."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if prompt := PROMPT.match(line):
            found.append((prompt[1], []))
        else:
            found[-1][1].append(line)
    for command, reply in found[:-1]:
        assert reply, f"{command}: only the last command of a block may wait"
    return found
