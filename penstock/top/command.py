"""``penstock top``: its options, and what is printed without a screen."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import redis

from penstock.top import columns, text_output
from penstock.top.feed import Feed
from penstock.top.server import LOST, Address

HOST, PORT = "127.0.0.1", 6379
URL = f"redis://{HOST}:{PORT}"
MOST_ROUNDS = 10_000  # looks of --once, each of a bounded size: some million streams
NO_SCREEN = 'the screen needs textual: pip install "penstock[top]"; --once works without it'


def run_top(argv: list[str], command: str) -> int:
    """Show what *argv* asks for, until the user leaves; the exit status."""
    program = f"{command} top"
    options = parser(program).parse_args(argv)
    options.program = program
    try:
        address, db = address_of(options)
        if options.once or options.json:
            return asyncio.run(_once(address, db, options))
        return _screen(address, db, options)
    except (redis.RedisError, ValueError, *LOST) as error:
        return _refused(program, str(error))


def _refused(program: str, why: str) -> int:
    sys.stderr.write(f"{program}: {' '.join(why.split())}\n")
    return 1


def parser(program: str) -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog=program, description="The streams of a Penstock, Redis or Valkey server, live."
    )
    made.add_argument("--url", help=f"the server (REDIS_URL, or {URL})")
    made.add_argument("--host", help="its host, instead of --url")
    made.add_argument("--port", type=int, help="its port, instead of --url")
    made.add_argument("--socket", help="its Unix socket, instead of --url")
    made.add_argument("--user", help="the user's name")
    made.add_argument("--password-file", metavar="FILE", help="a file with the password")
    made.add_argument("--tls", action="store_true", help="TLS, with --host and --port")
    made.add_argument("--cacert", metavar="FILE", help="who signs the server's certificate")
    made.add_argument("--cert", metavar="FILE", help="a certificate for us")
    made.add_argument("--key", metavar="FILE", help="its key")
    made.add_argument("--insecure", action="store_true", help="take any certificate")
    made.add_argument("--db", type=int, help="the database (that of the URL, or 0)")
    made.add_argument("--match", default="*", help="only streams with such names")
    made.add_argument(
        "--interval", type=_interval, default=1.0, metavar="S", help="between two looks (1 s)"
    )
    made.add_argument("--once", action="store_true", help="print one table, and end")
    made.add_argument("--groups", action="store_true", help="the groups, not the streams")
    made.add_argument("--json", action="store_true", help="print all as JSON, and end")
    made.add_argument(
        "--sort", default=columns.TROUBLE.title, metavar="COLUMN",
        choices=[column.title for column in columns.sortable(columns.OF_STREAMS)],
        help="trouble, stream, rate/s, length, bytes, groups, lag, pending, oldest, dead or sched",
    )  # fmt: skip
    made.add_argument("--read-only", action="store_true", help="offer nothing that changes data")
    return made


def address_of(options: argparse.Namespace) -> tuple[Address, int]:
    """Where the server is, and its database. Raises ValueError and OSError."""
    url = _url(options)
    if urlsplit(url).scheme not in ("redis", "rediss", "unix"):
        raise ValueError("a URL begins with redis://, rediss:// or unix://")
    password = None
    if options.password_file:
        password = Path(options.password_file).read_text().rstrip("\r\n")
        if not password:
            raise ValueError(f"{options.password_file} is empty")
    address = Address(
        url=url,
        username=options.user,
        password=password,
        ca_file=options.cacert,
        cert_file=options.cert,
        key_file=options.key,
        insecure=options.insecure,
    )
    return address, _db(url) if options.db is None else options.db


def _url(options: argparse.Namespace) -> str:
    if options.socket:
        return f"unix://{quote(options.socket)}"
    if options.host or options.port or options.tls:
        host = options.host or HOST
        named = f"[{host}]" if ":" in host else host
        return f"{'rediss' if options.tls else 'redis'}://{named}:{options.port or PORT}"
    given: str = options.url or os.environ.get("REDIS_URL", "") or URL
    return given


def _db(url: str) -> int:
    """The database that a URL names, by its path or by ?db="""
    split = urlsplit(url)
    named = parse_qs(split.query).get("db", [""])[0]
    if not named and split.scheme != "unix":
        named = split.path.strip("/")
    return int(named) if named.isdecimal() else 0


def _interval(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError("from 0.1 to 3600 seconds")
    return seconds


# ---------------------------------------------------------------------- without a screen


async def _once(address: Address, db: int, options: argparse.Namespace) -> int:
    feed = Feed(address, db, options.match)
    try:
        await look_at_all(feed)
    finally:
        await feed.close()
    for line in _printed(feed, options):
        sys.stdout.write(line + "\n")
    for denial in feed.denials:
        sys.stderr.write(f"{denial}\n")
    return 0


async def look_at_all(feed: Feed) -> None:
    """Look until the figures of all streams are there."""
    for _ in range(MOST_ROUNDS):
        await feed.look()
        if feed.has_all:
            return


def _printed(feed: Feed, options: argparse.Namespace) -> Iterator[str]:
    by = {column.title: column for column in columns.sortable(columns.OF_STREAMS)}[options.sort]
    streams = columns.in_order(feed.board.streams(), by)
    groups = columns.in_order(feed.board.groups(), columns.TROUBLE)
    if options.json:
        yield text_output.as_json(feed.figures.facts, streams, groups, feed.db)
        return
    if options.groups:
        yield from text_output.table(groups, columns.OF_GROUPS)
    else:
        yield from text_output.table(streams, columns.OF_STREAMS)


# ---------------------------------------------------------------------- with one


def _screen(address: Address, db: int, options: argparse.Namespace) -> int:
    try:
        from penstock.top.screens.app import Top  # noqa: PLC0415  (not everybody has textual)
    except ImportError:
        return _refused(options.program, NO_SCREEN)
    Feed(address, db)  # refuses a wrong address before the screen is taken
    app = Top(
        address, db, match=options.match, interval_s=options.interval, sort=options.sort,
        read_only=options.read_only,
    )  # fmt: skip
    app.run()
    return app.return_code or 0
