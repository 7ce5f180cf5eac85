"""redis-server's conventions for the command line, and nothing else.

    [redis.conf] [-] [--name value ...] [-]

A first word without a dash is the file. A word that begins with two dashes is an option's name,
unless an option still waits for its first value; all other words are values. A dash alone, first
or last, stands for more lines of redis.conf on the standard input. Options come after the file
and the input, so that they override both.

The environment's PENSTOCK_DEFAULTS may name a file of lines that come before all of these: an image
or a distribution has its own defaults there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from server.config.parameter import quoted
from server.config.parameters import Config
from server.config.redis_conf import BadLine, Line, lines_of, numbered, read_lines

DEFAULTS = "PENSTOCK_DEFAULTS"

HELP = """\
Usage: {program} [/path/to/redis.conf] [options] [-]
       {program} -    (read the configuration from the standard input)
       {program} -v or --version
       {program} -h or --help

Options are the parameters of redis.conf with two dashes before them:

  {program}    (the defaults: 127.0.0.1:6379)
  {program} --port 7000 --bind 127.0.0.1
  {program} redis.conf --maxclients 500
  {program} --save "" --client-output-buffer-limit normal 64mb 16mb 30
  {program} --event-loop asyncio    (instead of uvloop)
"""


class BadOptions(Exception):
    """The command line or a file of it is invalid; the message is one line for the user."""


def _read_standard_input() -> str:
    """All of the standard input; "" if it was closed."""
    return sys.stdin.read() if sys.stdin else ""


def read_command_line(
    argv: list[str], read_input: Callable[[], str] = _read_standard_input
) -> Config:
    """The configuration that *argv* (without the program's name) and its files describe.

    Raises BadOptions.
    """
    config = Config()
    try:
        read_lines(config, _all_lines(config, argv, read_input))
    except BadLine as error:
        raise BadOptions(str(error)) from None
    return config


def _all_lines(config: Config, argv: list[str], read_input: Callable[[], str]) -> list[Line]:
    """The lines of the defaults, the file, the standard input and the options, in this order."""
    defaults = os.environ.get(DEFAULTS)
    lines = lines_of(Path(defaults)) if defaults else []
    words = list(argv)
    if words and not words[0].startswith("-"):
        path = Path(words.pop(0))
        config.file = str(path.absolute())
        lines += lines_of(path)
    from_input = "-" in words[:1] + words[-1:]
    if from_input:
        words = words[1:] if words[0] == "-" else words[:-1]
        lines += numbered(read_input(), "standard input")
    return lines + option_lines(words)


def option_lines(words: list[str]) -> list[Line]:
    """``--port 1 --save 900 1`` as lines of redis.conf. Raises BadLine for a value without option.

    A name and its value may also be one word, ``"--port 1"``; ``--save`` may go without a value,
    which means no save points.
    """
    options: list[list[str]] = []
    complete = True  # the last option has a value
    for word in words:
        if word.startswith("--") and (complete or options[-1] == ["save"]):
            options.append([word[2:]])
            complete = len(word.split()) > 1
        elif options:
            options[-1].append(quoted(word))
            complete = True
        else:
            raise BadLine(f"unexpected argument '{word}'")
    names = ["".join(option[0].split()[:1]) for option in options]
    return [
        Line(" ".join(option), f"option --{name}")
        for option, name in zip(options, names, strict=True)
    ]
