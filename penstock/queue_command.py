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
PATIENCE_S = 5.0  # for the server to take a connection, and for each answer
NEVER_MS = 2**53  # when an entry comes that waits for those before it in an order
OCTETS = "what is not UTF-8 is there as \\udc80 to \\udcff, an octet each (Python: surrogateescape)"

Row = dict[str, Any]


class QueueError(Exception):
    """What was asked for cannot be done; the text says why, in one line."""


class WrongTypeError(QueueError):
    """A key is no stream."""


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
        with _client(options.url) as client:
            _connect(client)
            for line in options.act(client, options):
                print(line)
    except BrokenPipeError:
        raise
    except redis.TimeoutError as error:
        return _refused(command, f"no answer within {PATIENCE_S:.0f} s: {error}")
    except (QueueError, redis.RedisError, ValueError, OSError) as error:
        return _refused(command, str(error))
    return 0


def _client(url: str) -> redis.Redis:
    """It tries once, and waits for PATIENCE_S, unless the URL says something else."""
    from redis import Redis  # noqa: PLC0415  (not everybody has it, or needs it)
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.retry import Retry  # noqa: PLC0415

    return Redis.from_url(
        url,
        socket_timeout=PATIENCE_S,
        socket_connect_timeout=PATIENCE_S,
        retry=Retry(NoBackoff(), 0),
    )


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
    shown.add_argument("--json", action="store_true", help=f"as JSON, for programs; {OCTETS}")
    group = argparse.ArgumentParser(add_help=False)
    group.add_argument("queue", type=os.fsencode, help="the stream")
    group.add_argument(
        "--group", type=os.fsencode, help="which of its groups, if there are several"
    )

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
        rows += _states(client, key, now_ms)
    if options.json:
        yield json.dumps(rows, indent=1)
    elif rows:
        yield from _table([_cells(row) for row in rows])
    else:
        every = options.pattern == b"*"
        yield "there are no queues" if every else f"there is no queue {text(options.pattern)}"
    if unread := sum("error" in row for row in rows):
        raise QueueError(f"{unread} of {len(rows)} could not be read")


def _peek(client: redis.Redis, options: argparse.Namespace) -> Iterator[str]:
    _check_count(options)
    key: bytes = options.queue
    group = _group(client, options)
    now_ms = _now_ms(client)
    state = _state(client, key, group, now_ms)
    if "error" in state:
        raise QueueError(state["error"])
    jobs = {
        "scheduled": _scheduled(client, key, options.count),
        "recurring": _recurring(client, key),
        "waiting": _waiting(client, key, group, options.count),
        "pending": _pending(client, key, group, options.count, now_ms),
        "dead": _dead(client, _octets(state["dead_letters"]), options.count),
    }
    if options.json:
        yield json.dumps(jobs, indent=1)
        return
    numbers = {**state, "recurring": len(jobs["recurring"]), "waiting": state["lag"]}
    for kind, some in jobs.items():
        yield f"{kind}: {numbers[kind] or 0:,}"
        for job in some:
            named = job["fields"].items()
            fields = " ".join(f"{_shown(name)}={_shown(value)}" for name, value in named)
            yield "  ".join(("", _shown(job["id"]), *_about(job, now_ms), fields))


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
    before = "was paused before" if options.verb == "pause" else "was not paused"
    yield f"{options.verb}d" if changed else before


# ---------------------------------------------------------------------- what it asks


def _call(client: redis.Redis, *words: Any) -> Any:
    execute: Any = client.execute_command
    return execute(*words)


def _now_ms(client: redis.Redis) -> int:
    seconds, micros = _call(client, "TIME")
    return int(seconds) * 1000 + int(micros) // 1000


def _groups(client: redis.Redis, key: bytes) -> list[Row]:
    """The groups, as XINFO has them; those of a stream that is not there are none."""
    if not _is_stream(client, key):
        return []
    from redis import ResponseError  # noqa: PLC0415  (as above)

    try:
        found: list[Row] = _call(client, "XINFO GROUPS", key, "EXACT")
    except ResponseError as error:
        if "wrong number of arguments" in str(error):  # as Redis and Valkey say of EXACT
            raise QueueError(NOT_PENSTOCK) from error
        raise
    return found


def _is_stream(client: redis.Redis, key: bytes) -> bool:
    """Whether it is there. Raises WrongTypeError if it is something else."""
    kind: Any = client.type(key)
    if kind not in (b"stream", b"none"):
        raise WrongTypeError(f"{text(key)} is no stream: its type is {text(kind)}")
    return bool(kind == b"stream")


def _group(client: redis.Redis, options: argparse.Namespace) -> Row:
    """The group that *options* name, or the only one."""
    key: bytes = options.queue
    groups = {group["name"]: group for group in _groups(client, key)}
    if not groups:
        if not _is_stream(client, key):
            raise QueueError(f"there is no queue {text(key)}")
        raise QueueError(f"{text(key)} has {client.xlen(key):,} entries, and no group yet")
    names = ", ".join(map(text, groups))
    if options.group is None:
        if len(groups) > 1:
            raise QueueError(f"{text(key)} has the groups {names}: say --group")
        return next(iter(groups.values()))
    if options.group not in groups:
        raise QueueError(f"there is no group {text(options.group)}: {text(key)} has {names}")
    return groups[options.group]


def _settings(client: redis.Redis, key: bytes, group: Row) -> dict[str, Any]:
    """What the group does by itself, by the words of XGROUP CFGSET."""
    answer = _call(client, "XGROUP CFGGET", key, group["name"])
    return {text(name): value for name, value in pairs(answer)}


def _states(client: redis.Redis, key: bytes, now_ms: int) -> Iterator[Row]:
    """The lines of a stream in the table. What cannot be read is a line with the error."""
    from redis import ResponseError  # noqa: PLC0415  (as above)

    row: Row = {"queue": _word(key), "group": ""}
    try:
        for group in _groups(client, key):
            row = {**row, "group": _word(group["name"])}
            yield _state(client, key, group, now_ms)
    except (WrongTypeError, ResponseError) as error:
        yield {**row, "error": str(error)}


def _state(client: redis.Redis, key: bytes, group: Row, now_ms: int) -> Row:
    """The line of a queue in the table."""
    from redis import ResponseError  # noqa: PLC0415  (as above)

    settings = _settings(client, key, group)
    dead: bytes = settings["deadletter"]
    stream: Any = client.xinfo_stream(key)
    row: Row = {
        "queue": _word(key),
        "group": _word(group["name"]),
        "scheduled": stream.get("scheduled", 0),
        "length": stream["length"],
        "lag": group["lag"],
        "pending": group["pending"],
        "oldest_ms": _age_ms(client, key, group, now_ms),
        "dead": None,
        "dead_letters": _word(dead),
        "paused": settings["paused"] == b"yes",
    }
    if dead:
        try:
            row["dead"] = client.xlen(dead) if _is_stream(client, dead) else 0
        except WrongTypeError as error:
            row["error"] = str(error)
        except ResponseError as error:
            row["error"] = f"{text(dead)}: {error}"
    return row


def _age_ms(client: redis.Redis, key: bytes, group: Row, now_ms: int) -> int | None:
    """How long ago, by its ID, the first entry was added that is pending or not delivered."""
    ids: list[bytes] = [client.xpending(key, group["name"])["min"] or b""]
    ids += (_octets(job["id"]) for job in _waiting(client, key, group, 1))
    times = [int(entry_id.partition(b"-")[0]) for entry_id in ids if entry_id]
    return max(0, now_ms - min(times)) if times else None


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
            job["when"] = f"{_word(shown['cron'])} {_word(shown['zone'])}"
        jobs.append({**job, "next_ms": shown["next"]})
    return jobs


def _waiting(client: redis.Redis, key: bytes, group: Row, count: int) -> list[Row]:
    entries: Any = client.xrange(key, b"(" + group["last-delivered-id"], count=count)
    return [_job(*entry) for entry in entries]


def _pending(client: redis.Redis, key: bytes, group: Row, count: int, now_ms: int) -> list[Row]:
    """Those that a worker has, and those that wait for another attempt or for their turn."""
    jobs = []
    for entry_id, worker, time_ms, deliveries in _delivered(client, key, group, count):
        found: Any = client.xrange(key, entry_id, entry_id)
        job = _job(entry_id, found[0][1] if found else {})
        job["worker"] = _word(worker)
        job["deliveries"] = deliveries
        job["idle_ms"] = max(0, now_ms - time_ms) if worker else None
        if not worker:
            job["state"] = "held" if now_ms < time_ms < NEVER_MS else "released"
            if time_ms >= NEVER_MS:
                job["state"] = "waits for its turn"
            elif time_ms > now_ms:
                job["next_ms"] = time_ms
        jobs.append(job)
    return jobs


def _delivered(client: redis.Redis, key: bytes, group: Row, count: int) -> list[Any]:
    """Of each pending entry the ID, the worker, when it was delivered or is due, and how often."""
    answer = _call(client, "XINFO", "STREAM", key, "FULL", "COUNT", count)
    stream = {text(name): value for name, value in pairs(answer)}
    for found in stream["groups"]:
        about = {text(name): value for name, value in pairs(found)}
        if about["name"] == group["name"]:
            pending: list[Any] = about["pending"]
            return pending
    return []


def _dead(client: redis.Redis, dead_letters: bytes, count: int) -> list[Row]:
    if not dead_letters:
        return []
    entries: Any = client.xrange(dead_letters, count=count)
    return [_job(*entry) for entry in entries]


def _job(job_id: bytes, fields: Any) -> Row:
    named = {_word(name): _word(value) for name, value in pairs(fields)}
    return {"id": _word(job_id), "fields": named}


# ---------------------------------------------------------------------- how it looks


def _word(octets: bytes) -> str:
    """As JSON has it: every octet can be had back."""
    return octets.decode(errors="surrogateescape")


def _octets(word: str) -> bytes:
    return word.encode(errors="surrogateescape")


def _shown(word: str) -> str:
    """As a terminal shows it."""
    return text(_octets(word))


def _cells(row: Row) -> dict[str, str]:
    names = ("scheduled", "length", "lag", "pending")
    oldest_ms, dead = row.get("oldest_ms"), row.get("dead")
    remarks = ("paused" if row.get("paused") else "", text(row.get("error", "")))
    return {
        "queue": _shown(row["queue"]),
        "group": _shown(row["group"]),
        **{name: f"{row[name]:,}" if name in row else "" for name in names},
        "oldest": "" if oldest_ms is None else span(oldest_ms),
        "dead": "" if dead is None else f"{dead:,}",
        "": ", ".join(filter(None, remarks)),
    }


def _about(job: Row, now_ms: int) -> Iterator[str]:
    """What is said of a job besides its id and fields."""
    if "when" in job:
        yield _shown(job["when"])
    if job.get("next_ms") is not None:
        yield f"in {span(max(0, job['next_ms'] - now_ms))}"
    if "worker" in job:
        yield job.get("state") or _shown(job["worker"])
        since = "" if job["idle_ms"] is None else f", {span(job['idle_ms'])} ago"
        yield f"delivered {job['deliveries']} times{since}"


def _table(rows: list[dict[str, str]]) -> Iterator[str]:
    """Aligned columns: the names and the remark to the left, the numbers to the right."""
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if at < 2 or at == len(line) - 1 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
