"""``penstock queue``: shows and steers the queues of a server (docs/queues.md)."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from penstock.shown import pairs, span, text

if TYPE_CHECKING:
    import redis

URL = "redis://127.0.0.1:6379"
NO_CLIENT = 'it needs redis-py: pip install "penstock[queues]"'
NOT_PENSTOCK = "the server is not Penstock, so its groups do nothing by themselves"
AT_ONCE = 1000  # dead letters that one XREDRIVE sends back

Row = dict[str, Any]


class QueueError(Exception):
    """What was asked for cannot be done; the text says why, in one line."""


def run_queue(argv: list[str], command: str) -> int:
    """Do what *argv* says. The exit status."""
    options = _parser(f"{command} queue").parse_args(argv)
    try:
        import redis  # noqa: PLC0415  (not everybody has it, or needs it)
    except ImportError:
        return _refused(command, NO_CLIENT)
    if isinstance(sys.stdout, TextIOWrapper):  # names may have signs that its charset has not
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with redis.Redis.from_url(options.url) as client:
            _connect(client)
            for line in options.act(client, options):
                print(line)
    except BrokenPipeError:
        raise
    except (QueueError, redis.RedisError, ValueError, OSError) as error:
        return _refused(command, str(error))
    return 0


def _connect(client: redis.Redis) -> None:
    """Connect, with replies in octets, whatever the URL says, which may be that of a program."""
    client.connection_pool.connection_kwargs["decode_responses"] = False
    try:
        client.ping()
    except TypeError as error:  # redis-py has no such option
        raise QueueError(f"the URL does not fit: {error}") from error


def _refused(command: str, why: str) -> int:
    sys.stderr.write(f"{command} queue: {' '.join(why.split())}\n")
    return 1


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description="Queues: groups of streams.")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    server = argparse.ArgumentParser(add_help=False)
    url = os.environ.get("REDIS_URL", URL)
    server.add_argument("--url", default=url, help=f"the server (REDIS_URL, or {URL})")
    shown = argparse.ArgumentParser(add_help=False)
    shown.add_argument("--json", action="store_true", help="as JSON, for programs")
    group = argparse.ArgumentParser(add_help=False)
    group.add_argument("queue", type=os.fsencode, help="the stream")
    group.add_argument("--group", help="which of its groups, if there are several")

    ls = verbs.add_parser("ls", parents=[server, shown], help="all queues, in a table")
    ls.add_argument(
        "pattern", nargs="?", default="*", type=os.fsencode, help="only streams with such names"
    )
    ls.set_defaults(act=_ls)
    peek = verbs.add_parser(
        "peek",
        parents=[group, server, shown],
        help="some jobs of each kind: scheduled, waiting, dead ...",
    )
    peek.add_argument("--count", type=int, default=10, help="so many of each (%(default)s)")
    peek.set_defaults(act=_peek)
    redrive = verbs.add_parser(
        "redrive", parents=[group, server], help="send dead letters back where they come from"
    )
    redrive.add_argument("--count", type=int, help="so many at most, the oldest first")
    redrive.set_defaults(act=_redrive)
    for verb, does in (("pause", "give no worker a job"), ("resume", "end pause")):
        steers = verbs.add_parser(verb, parents=[group, server], help=does)
        steers.set_defaults(act=_steer, verb=verb)
    return parser


# ---------------------------------------------------------------------- what it does


def _ls(client: redis.Redis, options: argparse.Namespace) -> Iterator[str]:
    rows: list[Row] = []
    now_ms = _now_ms(client)
    for key in sorted(client.scan_iter(options.pattern, count=1000, _type="stream")):
        rows += (_state(client, key, group, now_ms) for group in _groups(client, key))
    if options.json:
        yield json.dumps(rows, indent=1)
    elif rows:
        yield from _table([_cells(row) for row in rows])


def _peek(client: redis.Redis, options: argparse.Namespace) -> Iterator[str]:
    _check_count(options)
    key: bytes = options.queue
    group = _group(client, options)
    now_ms = _now_ms(client)
    state = _state(client, key, group, now_ms)
    jobs = {
        "scheduled": _scheduled(client, key, options.count),
        "recurring": _recurring(client, key),
        "waiting": _waiting(client, key, group, options.count),
        "pending": _pending(client, key, group, options.count),
        "dead": _dead(client, state["dead_letters"], options.count),
    }
    if options.json:
        yield json.dumps(jobs, indent=1)
        return
    numbers = {**state, "recurring": len(jobs["recurring"]), "waiting": state["lag"]}
    for kind, some in jobs.items():
        yield f"{kind}: {numbers[kind] or 0:,}"
        for job in some:
            fields = " ".join(f"{name}={value}" for name, value in job["fields"].items())
            yield "  ".join(("", job["id"], *_about(job, now_ms), fields))


def _check_count(options: argparse.Namespace) -> None:
    if options.count is not None and options.count < 1:
        raise QueueError("--count must be at least 1")


def _redrive(client: redis.Redis, options: argparse.Namespace) -> Iterator[str]:
    _check_count(options)
    dead = _settings(client, options.queue, _group(client, options))["deadletter"]
    if not dead:
        raise QueueError(f"{text(options.queue)} has no dead letters: XGROUP CFGSET ... DEADLETTER")
    sent, most, after = 0, options.count, b"-"
    for command in ("XRANGE", "XREVRANGE"):
        client.set_response_callback(command, lambda ids, **_: ids)
    # What cannot go back stays, and holds up no other. What comes meanwhile is for the next time.
    last = _call(client, "XREVRANGE", dead, "+", "-", "COUNT", 1, "NOFIELDS")
    while last and (most is None or sent < most):
        some = AT_ONCE if most is None else min(AT_ONCE, most - sent)
        ids = _call(client, "XRANGE", dead, after, last[0], "COUNT", some, "NOFIELDS")
        if not ids:
            break
        sent += int(_call(client, "XREDRIVE", dead, *ids))
        after = b"(" + ids[-1]
    yield f"{sent:,} sent back"


def _steer(client: redis.Redis, options: argparse.Namespace) -> Iterator[str]:
    group = _group(client, options)["name"]
    changed = _call(client, f"XGROUP {options.verb.upper()}", options.queue, group)
    yield f"{options.verb}d" if changed else f"was {options.verb}d before"


# ---------------------------------------------------------------------- what it asks


def _call(client: redis.Redis, *words: Any) -> Any:
    execute: Any = client.execute_command
    return execute(*words)


def _now_ms(client: redis.Redis) -> int:
    seconds, micros = _call(client, "TIME")
    return int(seconds) * 1000 + int(micros) // 1000


def _groups(client: redis.Redis, key: bytes) -> list[Row]:
    """The groups, as XINFO has them; those of a stream that has gone meanwhile are none."""
    if not client.exists(key):
        return []
    from redis import ResponseError  # noqa: PLC0415  (as above)

    try:
        found: list[Row] = _call(client, "XINFO GROUPS", key, "EXACT")
    except ResponseError as error:
        if "wrong number of arguments" in str(error):  # as Redis and Valkey say of EXACT
            raise QueueError(NOT_PENSTOCK) from error
        raise
    return found


def _group(client: redis.Redis, options: argparse.Namespace) -> Row:
    """The group that *options* name, or the only one."""
    groups = {text(group["name"]): group for group in _groups(client, options.queue)}
    if not groups:
        raise QueueError(f"there is no queue {text(options.queue)}")
    if options.group is None and len(groups) == 1:
        return next(iter(groups.values()))
    if options.group not in groups:
        raise QueueError(f"{text(options.queue)} has the groups {', '.join(groups)}: say --group")
    return groups[options.group]


def _settings(client: redis.Redis, key: bytes, group: Row) -> dict[str, Any]:
    """What the group does by itself, by the words of XGROUP CFGSET."""
    answer = _call(client, "XGROUP CFGGET", key, group["name"])
    return {text(name): value for name, value in pairs(answer)}


def _state(client: redis.Redis, key: bytes, group: Row, now_ms: int) -> Row:
    """The line of a queue in the table."""
    settings = _settings(client, key, group)
    dead = settings["deadletter"]
    first: Any = client.xpending(key, group["name"])["min"]
    age_ms = None if first is None else max(0, now_ms - int(first.partition(b"-")[0]))
    stream: Any = client.xinfo_stream(key)
    return {
        "queue": text(key),
        "group": text(group["name"]),
        "scheduled": stream.get("scheduled", 0),
        "length": stream["length"],
        "lag": group["lag"],
        "pending": group["pending"],
        "oldest_ms": age_ms,
        "dead": client.xlen(dead) if dead else None,
        "dead_letters": text(dead),
        "paused": settings["paused"] == b"yes",
    }


def _scheduled(client: redis.Redis, key: bytes, count: int) -> list[Row]:
    jobs = [_job(*entry) for entry in _call(client, "XSCHEDULED", key, "COUNT", count)]
    return [{**job, "next_ms": int(job["id"].partition("-")[0])} for job in jobs]


def _recurring(client: redis.Redis, key: bytes) -> list[Row]:
    jobs = []
    for answer in _call(client, "XSCHEDULES", key):
        shown = {text(name): value for name, value in pairs(answer)}
        job = _job(shown["name"], shown["fields"])
        if every_ms := shown.get("every"):
            job["when"] = f"every {span(every_ms)}"
        else:
            job["when"] = f"{text(shown['cron'])} {text(shown['zone'])}"
        jobs.append({**job, "next_ms": shown["next"]})
    return jobs


def _waiting(client: redis.Redis, key: bytes, group: Row, count: int) -> list[Row]:
    entries: Any = client.xrange(key, b"(" + group["last-delivered-id"], count=count)
    return [_job(*entry) for entry in entries]


def _pending(client: redis.Redis, key: bytes, group: Row, count: int) -> list[Row]:
    jobs = []
    entries: Any = client.xpending_range(key, group["name"], "-", "+", count)
    for entry in entries:
        entry_id = entry["message_id"]
        found: Any = client.xrange(key, entry_id, entry_id)
        job = _job(entry_id, found[0][1] if found else {})
        job["worker"] = text(entry["consumer"])
        job["deliveries"] = entry["times_delivered"]
        job["idle_ms"] = entry["time_since_delivered"]
        jobs.append(job)
    return jobs


def _dead(client: redis.Redis, dead_letters: str, count: int) -> list[Row]:
    if not dead_letters:
        return []
    entries: Any = client.xrange(dead_letters, count=count)
    return [_job(*entry) for entry in entries]


def _job(job_id: bytes, fields: Any) -> Row:
    named = {text(name): text(value) for name, value in pairs(fields)}
    return {"id": text(job_id), "fields": named}


# ---------------------------------------------------------------------- how it looks


def _cells(row: Row) -> dict[str, str]:
    numbers = {name: f"{row[name]:,}" for name in ("scheduled", "length", "lag", "pending")}
    return {
        "queue": row["queue"],
        "group": row["group"],
        **numbers,
        "oldest": "" if row["oldest_ms"] is None else span(row["oldest_ms"]),
        "dead": "" if row["dead"] is None else f"{row['dead']:,}",
        "": "paused" if row["paused"] else "",
    }


def _about(job: Row, now_ms: int) -> Iterator[str]:
    """What is said of a job besides its id and fields."""
    if "when" in job:
        yield job["when"]
    if job.get("next_ms") is not None:
        yield f"in {span(max(0, job['next_ms'] - now_ms))}"
    if "worker" in job:
        yield job["worker"] or "nobody's"
        yield f"delivered {job['deliveries']} times, {span(job['idle_ms'])} ago"


def _table(rows: list[dict[str, str]]) -> Iterator[str]:
    """Aligned columns: the names to the left, the numbers to the right."""
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
