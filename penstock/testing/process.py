"""The process of a server, which ends with the process that started it, however that ends.

    this process --- lifeline, a pipe ---> keeper (sh) --- starts, kills ---> server
                 <---- life sign, a pipe -------------------------------------'

The keeper reads the lifeline. Its end means that nobody holds the other end any more: the server
was stopped, or this process was, if only by SIGKILL. Then the keeper kills the server and removes
its folder. So what ends every run by the rules is also what ends a run that was killed.

(Linux could have the kernel kill the server, by PR_SET_PDEATHSIG: it does so when the *thread* ends
that started it, and leaves the folder.)

The server holds the life sign and never writes to it. Its end says that the server has ended.
"""

from __future__ import annotations

import os
import select
import subprocess
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.testing.errors import StartFailed
from penstock.testing.folder import LOG

# $0 is the folder. What begins with "keep" leaves it, for a server that is started after this one.
KEEPER = """
"$@" 3>&1 >>"$0/log" 2>&1 </dev/null &
server=$!
exec >&-
read -r word
kill -KILL $server
wait $server
[ "$word" = keep ] || rm -rf -- "$0"
"""

FIRST_PAUSE_S = 0.001
LONGEST_PAUSE_S = 0.02
SHOWN_LINES = 25


class ServerProcess:
    """A server that was started by *command* and works in *folder*."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._folder = folder
        self._keeper = subprocess.Popen(  # noqa: S603  (the command is our own)
            ["/bin/sh", "-c", KEEPER, str(folder), *command],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the tests: they still need the server to end
        )
        _running.add(self)

    def wait_until(self, is_ready: Callable[[], bool], timeout_s: float) -> None:
        """Ask *is_ready* until it is. Raises StartFailed if the server ends, or takes too long."""
        pause_s, waited_s = FIRST_PAUSE_S, 0.0
        while not is_ready():
            if self.has_ended(within_s=pause_s):
                raise StartFailed(f"The server has ended. Its last words:\n{self.last_words()}")
            waited_s += pause_s
            if waited_s > timeout_s:
                raise StartFailed(
                    f"The server is not ready after {timeout_s:g} s. Its last words:\n"
                    f"{self.last_words()}"
                )
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def has_ended(self, within_s: float = 0.0) -> bool:
        """Whether the server has ended; waits so long for that."""
        assert self._keeper.stdout is not None
        return bool(select.select([self._keeper.stdout], [], [], within_s)[0])

    def last_words(self) -> str:
        """The end of the server log."""
        try:
            text = (self._folder / LOG).read_text(errors="replace")
        except OSError as error:
            return f"(the log cannot be read: {error.strerror})"
        return "\n".join(text.splitlines()[-SHOWN_LINES:]) or "(none)"

    def stop(self, keeps_folder: bool = False) -> None:
        """Kill the server, and remove its folder unless that is kept. May be called again.

        In a child made by fork() it does nothing: the server is its parent's.
        """
        if self not in _running:
            return
        _running.discard(self)
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        try:
            self._keeper.stdin.write(b"keep\n" if keeps_folder else b"")
            self._keeper.stdin.close()
        except BrokenPipeError:
            pass  # somebody has killed the keeper
        self._keeper.wait()
        self._keeper.stdout.close()

    def let_go(self) -> None:
        """For a child made by fork(): hold the lifeline no more, which is its parent's."""
        for pipe in (self._keeper.stdin, self._keeper.stdout):
            assert pipe is not None
            pipe.close()
        self._keeper.returncode = 0  # not this process's to wait for


_running: weakref.WeakSet[ServerProcess] = weakref.WeakSet()


def _let_go_of_all() -> None:
    for process in list(_running):
        process.let_go()
    _running.clear()


os.register_at_fork(after_in_child=_let_go_of_all)
