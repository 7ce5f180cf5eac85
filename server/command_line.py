"""redis-server's conventions for options and redis.conf, and nothing else."""

from __future__ import annotations

import shlex
from pathlib import Path

from server.config import BadValue, Config

HELP = """\
Usage: python -m server [/path/to/redis.conf] [options]
       python -m server --version | --help

Options are the parameters of redis.conf with two dashes before them:

  python -m server                         (the defaults: 127.0.0.1:6379)
  python -m server --port 7000 --bind 127.0.0.1
  python -m server redis.conf --maxclients 500
  python -m server --event-loop asyncio    (instead of uvloop)
"""


class BadOptions(Exception):
    """The command line or the file cannot be understood; the message is one line for the user."""


def read_command_line(argv: list[str]) -> Config:
    """Read the file, if the first word is one, and then the options, which override it."""
    config = Config()
    if argv and not argv[0].startswith("--"):
        _read_file(config, argv[0])
        argv = argv[1:]
    for words in _options(argv):
        _set(config, words, "--" + words[0])
    return config


def _options(argv: list[str]) -> list[list[str]]:
    """Split ``--port 1 --save 900 1 --save ""`` into one list of words for each option."""
    options: list[list[str]] = []
    for word in argv:
        if word.startswith("--"):
            options.append([word[2:]])
        elif options:
            options[-1].append(word)
        else:
            raise BadOptions(f"unexpected argument '{word}'")
    return options


def _read_file(config: Config, name: str) -> None:
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadOptions(f"can't open config file '{name}': {error}") from None
    config.file = str(Path(name).resolve())
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            where = f"{name}, line {number}"
            try:
                _set(config, shlex.split(line), where)
            except ValueError:
                raise BadOptions(f"{where}: unbalanced quotes") from None


def _set(config: Config, words: list[str], where: str) -> None:
    name, *rest = words
    row = config.find(name)
    if row is None:
        raise BadOptions(f"{where}: unknown parameter '{name}'")
    if not rest:
        raise BadOptions(f"{where}: '{name}' needs a value")
    try:
        config.set(row, config.parse(row, " ".join(rest)))
    except BadValue as error:
        raise BadOptions(f"{where}: '{name} {' '.join(rest)}': {error}") from None
