"""The command ``penstock``: finds out what is wanted, and does it or starts it."""

from __future__ import annotations

import os
import sys

from penstock.launch import launch

PIPE_CLOSED, INTERRUPTED = 128 + 13, 128 + 2  # of what SIGPIPE and SIGINT end, as a shell has it

HELP = """\
Usage: {command} serve [/path/to/redis.conf] [options]
       {command} check [--fix] PATH ...
       {command} alias DIR
       {command} unit [/path/to/redis.conf]
       {command} queue ls|peek|redrive|pause|resume ...
       {command} top [--url redis://...] [--once]
       {command} -v or --version
       {command} -h or --help

  serve  starts the server; serve --help shows its options. The word may be left out.
  check  says whether data files are whole, and what is in them.
  alias  writes DIR/redis-server, which starts Penstock, for tools that look for that name.
  unit   prints a unit for systemd, which runs this installation as a service.
  queue  shows and steers the queues of a running server; queue --help has more.
  top    shows streams and groups, those in trouble first, live in the terminal.
"""


def main(argv: list[str] | None = None, command: str = "penstock") -> int:
    """Run *argv*, by default the words after the program's name; the exit status.

    *command* is what the user calls it, for the usage texts.
    """
    _open_closed_streams()
    try:
        status = _do(sys.argv[1:] if argv is None else argv, command)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads, as head does, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _open_closed_streams() -> None:
    """Let what is written go nowhere where a stream is closed, as with ``>&-``."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _do(words: list[str], command: str) -> int:
    verb = words[0] if words else ""
    if verb in ("--help", "-h"):
        sys.stdout.write(HELP.format(command=command))
        return 0
    if verb in ("serve", "check"):
        return launch(f"{command} {verb}", words[1:])
    if verb == "alias":
        from penstock.alias import make_alias  # noqa: PLC0415  (only when it is wanted)

        return make_alias(words[1:], command)
    if verb == "unit":
        from penstock.unit import print_unit  # noqa: PLC0415  (imported lazily)

        return print_unit(words[1:], command)
    if verb == "queue":
        from penstock.queue_command import run_queue  # noqa: PLC0415

        return run_queue(words[1:], command)
    if verb == "top":
        return _top(words[1:], command)
    if _is_no_file(verb):
        sys.stderr.write(f"penstock: {verb!r} is no command and no file: see {command} --help\n")
        return 1
    return launch(f"{command} serve", words)


def _top(words: list[str], command: str) -> int:
    try:
        from penstock.top.command import run_top  # noqa: PLC0415  (not everybody has redis-py)
    except ImportError:
        sys.stderr.write(f'{command} top: it needs redis-py: pip install "penstock[top]"\n')
        return 1
    return run_top(words, command)


def _is_no_file(word: str) -> bool:
    """Whether *word* must be a mistyped verb: there is no file of this name."""
    return word.isalpha() and not os.path.exists(word)
