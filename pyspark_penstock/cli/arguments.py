"""The arguments of the command line: a parser for each command, and the common arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from pyspark_penstock.connect.address import Server
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.server_options import with_environment
from pyspark_penstock.options import milliseconds
from pyspark_penstock.write.sink_options import DELIVERIES

PROGRAM = "python -m pyspark_penstock"
EPILOG = (
    "Exit codes: 0 done, 1 error, 2 usage, 3 entries were lost before they were read, "
    "130 interrupted."
)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(prog=PROGRAM, description="Jobs on streams.", epilog=EPILOG)
    top.add_argument("--version", action="version", version=f"penstock {installed()}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (summary, add_arguments) in COMMANDS.items():
        one = commands.add_parser(name, help=summary, description=summary, epilog=EPILOG)
        add_arguments(one)
        add_common(one)
    return top


def installed() -> str:
    """The version of this package."""
    try:
        return version("penstock")
    except PackageNotFoundError:  # it came by --py-files
        return "of no known version"


def add_common(one: argparse.ArgumentParser) -> None:
    """Add the arguments that all commands take."""
    one.add_argument("--server", metavar="HOST:PORT[,...]", help="default: $PENSTOCK_SERVERS")
    one.add_argument(
        "--option", action="append", default=[], type=pair, metavar="NAME=VALUE",
        help="any other option of the server: username, passwordEnv, credentialsFile, db, tls, "
        "tls.caFile ...",
    )  # fmt: skip
    one.add_argument("--json", action="store_true", help="a JSON object a line")


def add_spark(one: argparse.ArgumentParser) -> None:
    """Add the arguments of commands that start Spark."""
    one.add_argument("--master", default="", help="Spark's master; default: local[*]")
    one.add_argument(
        "--conf", action="append", default=[], type=pair, metavar="NAME=VALUE",
        help="a setting of Spark",
    )  # fmt: skip
    one.add_argument("--log-level", default="off", help="Spark's own log: warn, info ...")


def add_metrics(one: argparse.ArgumentParser) -> None:
    """Add the argument of commands that run streaming queries."""
    one.add_argument(
        "--metrics-port", type=port, metavar="PORT",
        help="serve figures to Prometheus, at 127.0.0.1; 0 is any port",
    )  # fmt: skip


def add_run(one: argparse.ArgumentParser) -> None:
    """``run JOB.toml``"""
    add_spark(one)
    add_metrics(one)
    one.add_argument("job", metavar="JOB.toml")
    how = one.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="end after the entries that exist now")
    how.add_argument("--continuous", action="store_true", help="go on until stopped")
    one.add_argument("--from", dest="start", type=start, metavar="earliest|latest|TIME")
    one.add_argument("--dry-run", action="store_true", help="check and show, start nothing")


def add_archive(one: argparse.ArgumentParser) -> None:
    """``archive STREAM... --to DIR``"""
    add_spark(one)
    add_metrics(one)
    one.add_argument("streams", nargs="+", metavar="STREAM", help="names, or one glob")
    one.add_argument("--to", required=True, metavar="DIR")
    one.add_argument("--trim", action="store_true", help="trim what no group needs any more")
    one.add_argument("--keep", type=duration_ms, metavar="24h", help="trim only older entries")
    one.add_argument(
        "--every", type=interval_ms, metavar="10m", help="archive again at this interval"
    )
    one.add_argument("--group", default="", help="show the position as this consumer group")
    one.add_argument(
        "--group-takeover", action="store_true", help="even if others created or use the group"
    )
    one.add_argument("--go-on-after-loss", action="store_true", help="archive what is left")


def add_restore(one: argparse.ArgumentParser) -> None:
    """``restore DIR --stream S --into T``"""
    add_spark(one)
    one.add_argument("folder", metavar="DIR")
    one.add_argument("--stream", required=True, help="the stream that was archived")
    one.add_argument("--into", required=True, help="the stream to make")
    one.add_argument("--from", dest="start", type=time_ms, metavar="TIME", help="included")
    one.add_argument("--to", dest="end", type=time_ms, metavar="TIME", help="not included")
    one.add_argument("--resume", action="store_true", help="go on where a restore broke off")


def add_load(one: argparse.ArgumentParser) -> None:
    """``load FILE... --stream S``"""
    add_spark(one)
    one.add_argument("files", nargs="+", metavar="FILE", help="Parquet, CSV, JSON, ORC or text")
    one.add_argument("--stream", required=True)
    one.add_argument("--format", default="", help="if the names of the files do not say it")
    one.add_argument(
        "--map", action="append", default=[], type=pair, metavar="COLUMN=FIELD",
        help="only these columns, under these names",
    )  # fmt: skip
    one.add_argument("--id-column", default="", help="a column with ids for the entries")
    one.add_argument("--schema", default="", help='as in "item string, qty int"')
    one.add_argument("--read", action="append", default=[], type=pair, metavar="NAME=VALUE")
    one.add_argument("--delivery", choices=DELIVERIES)
    one.add_argument("--max-len", help="trim the stream to about as many entries")
    one.add_argument("--txn-app-id", help="a name; each version under it is loaded only once")
    one.add_argument("--txn-version", help="a number, one for each load under that name")


def add_health(one: argparse.ArgumentParser) -> None:
    """``health [STREAM...]``"""
    one.add_argument("streams", nargs="*", metavar="STREAM", help="names and globs; default: all")
    one.add_argument("--group", default="")
    one.add_argument("--min-idle", type=duration_ms, default=60_000, metavar="60s")
    one.add_argument("--html", metavar="FILE", help="also write a page (needs matplotlib)")
    one.add_argument("--png", metavar="FILE", help="also write a picture (needs matplotlib)")


def add_query(one: argparse.ArgumentParser) -> None:
    """``query "SQL"``"""
    add_spark(one)
    one.add_argument("sql", metavar="SQL")
    one.add_argument("--archive", default="", metavar="DIR", help="include archived entries")
    one.add_argument(
        "--schema", action="append", default=[], type=pair, metavar='STREAM="item string"',
        help="the fields of a stream, if they are not to be inferred",
    )  # fmt: skip
    one.add_argument("--limit", type=int, default=1_000, help="the largest number of rows; 0: all")


def add_status(one: argparse.ArgumentParser) -> None:
    """``status CHECKPOINT``"""
    one.add_argument("checkpoint", metavar="CHECKPOINT", help="a checkpoint, or an archive's DIR")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "run": ("Run a live pipeline from a job file.", add_run),
    "archive": ("Archive streams as Parquet, by stream and date.", add_archive),
    "restore": ("Restore a stream from its archive, with its original ids.", add_restore),
    "load": ("Load files into a stream, one entry for each row.", add_load),
    "health": ("Show the state of consumer groups.", add_health),
    "query": ("Run SQL over streams, their archive, and pending entries.", add_query),
    "status": ("Show how far a query is, by its checkpoint.", add_status),
}

# ------------------------------------------------------------------ values


def pair(text: str) -> tuple[str, str]:
    """``NAME=VALUE``"""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def duration_ms(text: str) -> int:
    """A time such as ``90s``; a bare number is milliseconds."""
    ms = milliseconds(text)
    if ms is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 500ms, 30s, 10m, 24h, 7d")
    return ms


def interval_ms(text: str) -> int:
    """A time between two runs, which must not be zero."""
    ms = duration_ms(text)
    if not ms:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: give some, or nothing to run once")
    return ms


def port(text: str) -> int:
    """A port of this machine; 0 is any."""
    if not (text.isdecimal() and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, which is at most 65535")
    return int(text)


def time_ms(text: str) -> int:
    """A point in time: milliseconds since 1970, or an ISO date or time, by default in UTC."""
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither milliseconds nor a time such as 2026-11-21T10:30:00"
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1_000)


def start(text: str) -> str:
    """``earliest``, ``latest`` or a point in time."""
    return text if text in {"earliest", "latest"} else str(time_ms(text))


def server_of(given: argparse.Namespace) -> dict[str, str]:
    """The options of the server, from arguments and environment. Raises OptionError."""
    options = with_environment(server_options(given))
    Server.from_environment(options)  # refuses wrong options before Spark is started
    return options


def server_options(given: argparse.Namespace) -> dict[str, str]:
    """The options of the server, from arguments only. Raises OptionError."""
    options = dict(given.option)
    if given.server:
        if "bootstrap.servers" in options:
            raise OptionError("--server and --option bootstrap.servers say the same")
        options["bootstrap.servers"] = given.server
    return options
