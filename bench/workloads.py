"""The table of workloads: what is prepared, what is sent, and the aim for each depth.

Streams that are read hold ENTRIES entries of three fields, one for each millisecond from FIRST_MS
on, so every answer is known beforehand. Reads begin at PLACES different entries in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final, Protocol

from bench.client import Argument, Command, encode
from bench.load import Exchange, Script, Scripted, encode_answer, exchange
from bench.redis_benchmark import KEYS, RedisBenchmark
from bench.script_calls import EVAL, EVAL_HUNDRED, EVALSHA, FCALL, HUNDRED, ONE, some_scripts
from bench.subscribers import Subscribers
from bench.waiters import GROUP as CREW
from bench.waiters import STREAM as WAITED_FOR
from bench.waiters import Crew, Waiters

CLIENTS: Final = 50
ENTRIES: Final = 10_000
FIRST_MS: Final = 1_700_000_000_000
PLACES: Final = 16
TOKENS: Final = 10
HASH_FIELDS: Final = 50
RANKED: Final = 100  # members in a range that is read whole
TOWNS: Final = 20  # groups of places
TOWN_PLACES: Final = 5000
NEAREST: Final = 100  # of them, in an answer
MANY_KEYS: Final = 3_000_000
MANY_PENDING: Final = 1_000_000
STREAM: Final = b"readings"
ITEM: Final = "item-of-twenty-bytes"
OK: Final = b"+OK\r\n"
FIELDS: Final = ("device", "sensor-17", "celsius", "21.50", "state", "ok")

# The aims by depth: the largest ratio of the server CPU of a request, ours to the best peer's.
MOST: Final = {1: 1.0, 16: 0.9}
ONLY_DEPTH_1: Final = {1: 1.0}  # for conversations: a client has one command in flight
BULK: Final = {1: 0.67, 16: 0.67}  # answers of 100 entries or members, or 50 fields, or more
WITH_EVICTION: Final = {1: 1.25, 16: 1.25}
AS_MUCH: Final = {1: 1.0, 16: 1.0}  # what makes many small objects


class Load(Protocol):
    """A generator of load."""

    def run(self, port: int, requests: int, depth: int) -> float:
        """Send *requests* requests; return the seconds that they took."""


@dataclass(frozen=True)
class Workload:
    """A workload. *setup(requests)* yields the commands that prepare *requests* requests.

    A server that refuses *trial* is left out; empty: none is.
    """

    name: str
    title: str
    load: Load
    most: Mapping[int, float] = field(default_factory=lambda: MOST)
    setup: Callable[[int], Iterator[Command]] = lambda _: iter(())
    trial: Command = ()


# ---------------------------------------------------------------- what is prepared


def entry_id(number: int) -> bytes:
    """The id of an entry of the prepared stream."""
    return b"%d-0" % (FIRST_MS + number)


def entry_fields(number: int) -> list[bytes]:
    """The three fields and values of an entry, always of the same length."""
    device, celsius = b"sensor-%02d" % (number % 100), b"%d.%02d" % (number % 9 + 1, number % 100)
    return [b"device", device, b"celsius", celsius, b"state", b"ok"]


def some_keys(_: int, keys: int = KEYS) -> Iterator[Command]:
    """Set every key for which redis-benchmark will ask."""
    for start in range(0, keys, 1000):
        pairs = ((f"key:{number:012d}", "xyz") for number in range(start, start + 1000))
        yield ("MSET", *(word for pair in pairs for word in pair))


def scripts(requests: int) -> Iterator[Command]:
    """Set every key for which redis-benchmark will ask, and load the scripts that read them."""
    return some_scripts(some_keys(requests))


def many_keys(requests: int) -> Iterator[Command]:
    """Set so many keys that they do not fit the processor's caches."""
    return some_keys(requests, MANY_KEYS)


def a_full_server(_: int) -> Iterator[Command]:
    """Fill the server beyond its maxmemory: each new key drives out an old one.

    Not too many keys at a time, so that each command can drive out as many as it sets.
    """
    yield ("CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "32mb")
    for start in range(0, 300_000, 50):
        pairs = ((f"old:{number:012d}", "x" * 64) for number in range(start, start + 50))
        yield ("MSET", *(word for pair in pairs for word in pair))


def some_items(requests: int) -> Iterator[Command]:
    """Make a list that is long enough for *requests* RPOPs."""
    for _ in range(-(-requests // 1000)):
        yield ("LPUSH", "queue", *[ITEM] * 1000)


def a_ring(_: int) -> Iterator[Command]:
    """Make a list whose items are moved from its head to its tail."""
    yield ("RPUSH", "ring", *[ITEM] * 10_000)


def some_members(requests: int) -> Iterator[Command]:
    """Make a set that is large enough for *requests* SPOPs."""
    for start in range(0, requests, 1000):
        yield ("SADD", "set", *(f"member:{number:012d}" for number in range(start, start + 1000)))


def some_fields(_: int) -> Iterator[Command]:
    """Make a hash that has every field for which redis-benchmark will ask."""
    for start in range(0, KEYS, 1000):
        pairs = ((f"field:{number:012d}", "xyz") for number in range(start, start + 1000))
        yield ("HSET", "hash", *(word for pair in pairs for word in pair))


def small_hashes(_: int) -> Iterator[Command]:
    """Make the hashes that are read as a whole."""
    for number in range(PLACES):
        yield ("HSET", f"hash-{number:02d}", *hash_words(number))


def hash_words(number: int) -> list[bytes]:
    """Fields and values of a small hash: half of the values are numbers."""
    pairs = (
        (b"field-%02d" % n, b"%d" % (n * number) if n % 2 else b"text-%03d" % n)
        for n in range(HASH_FIELDS)
    )
    return [word for pair in pairs for word in pair]


def some_scores(requests: int) -> Iterator[Command]:
    """Make a sorted set with a member for each request, in no order."""
    for start in range(0, requests, 1000):
        numbers = range(start, start + 1000)
        pairs = ((number * 7919 % requests, f"member:{number:012d}") for number in numbers)
        yield ("ZADD", "ranking", *(word for pair in pairs for word in pair))


def a_ranking(_: int) -> Iterator[Command]:
    """Make the sorted set of which ranges are read: scores are ranks."""
    for start in range(0, ENTRIES, 1000):
        numbers = range(start, start + 1000)
        yield ("ZADD", "ranking", *(word for n in numbers for word in (n, ranked(n))))


def ranked(number: int) -> bytes:
    """The member of that rank."""
    return b"member:%06d" % number


def places_in_towns(_: int) -> Iterator[Command]:
    """Make a sorted set of 100,000 places: TOWNS, each of TOWN_PLACES around its centre."""
    for town in range(TOWNS):
        longitude, latitude = centre_of(town)
        for start in range(0, TOWN_PLACES, 1000):
            words: list[Argument] = []
            for number in range(start, start + 1000):
                east, north = away(number)
                east /= math.cos(math.radians(latitude))
                words += [str(longitude + east), str(latitude + north), place(town, number)]
            yield ("GEOADD", "places", *words)


def centre_of(town: int) -> tuple[float, float]:
    """Its longitude and latitude; the towns are far from each other."""
    return -170 + town * 17, -45 + town * 4.5


def away(number: int) -> tuple[float, float]:
    """How far east and north of the centre a place is, in degrees: each further than the last one.

    They lie as the seeds of a sunflower do, up to 3.5 km away. Degrees are those of the equator.
    """
    distance, angle = 0.00045 * math.sqrt(number), 2.399963229728653 * number
    return distance * math.cos(angle), distance * math.sin(angle)


def place(town: int, number: int) -> bytes:
    """The name of a place."""
    return b"town:%03d:%05d" % (town, number)


def a_stream(_: int) -> Iterator[Command]:
    """Make the stream that is read."""
    for number in range(ENTRIES):
        yield ("XADD", STREAM, entry_id(number), *entry_fields(number))


def a_stream_with_groups(requests: int) -> Iterator[Command]:
    """Make the stream, and a group for each connection."""
    yield from a_stream(requests)
    for client in range(CLIENTS):
        yield ("XGROUP", "CREATE", STREAM, group(client), 0)


def own_streams(_: int) -> Iterator[Command]:
    """Make a stream with a group for each connection."""
    for client in range(CLIENTS):
        yield ("XGROUP", "CREATE", own_stream(client), "g", "$", "MKSTREAM")


def many_pending(_: int) -> Iterator[Command]:
    """Make a stream of which a consumer has so many entries pending."""
    yield ("XGROUP", "CREATE", STREAM, "g", "$", "MKSTREAM")
    for number in range(MANY_PENDING):
        yield ("XADD", STREAM, entry_id(number), "f", "v")
    for _ in range(0, MANY_PENDING, 10_000):
        yield ("XREADGROUP", "GROUP", "g", "me", "COUNT", 10_000, "STREAMS", STREAM, ">")


def tokens_in_the_ring(_: int) -> Iterator[Command]:
    """Put items into some of the lists of the ring."""
    for client in range(0, CLIENTS, CLIENTS // TOKENS):
        yield ("LPUSH", ring_list(client), ITEM)


def a_crew(_: int) -> Iterator[Command]:
    """Make the group whose consumers wait."""
    yield ("XGROUP", "CREATE", WAITED_FOR, CREW, "$", "MKSTREAM")


def room_for_many(_: int) -> Iterator[Command]:
    """Let more clients in than by default."""
    yield ("CONFIG", "SET", "maxclients", 10_100)


# ---------------------------------------------------------------- what is sent


def entries(start: int, count: int, step: int = 1) -> list[list[object]]:
    """Entries in the form of an answer."""
    return [[entry_id(n), entry_fields(n)] for n in range(start, start + count * step, step)]


def places(count: int) -> range:
    """The numbers of the entries at which reads of *count* entries begin."""
    return range(count, ENTRIES - count, (ENTRIES - 2 * count) // PLACES)


def xrange(count: int) -> Script:
    return [
        exchange(("XRANGE", STREAM, entry_id(at), "+", "COUNT", count), entries(at, count))
        for at in places(count)
    ]


def xrevrange(count: int) -> Script:
    return [
        exchange(("XREVRANGE", STREAM, entry_id(at), "-", "COUNT", count), entries(at, count, -1))
        for at in places(count)
    ]


def xread(count: int) -> Script:
    return [
        exchange(
            ("XREAD", "COUNT", count, "STREAMS", STREAM, entry_id(at - 1)),
            [[STREAM, entries(at, count)]],
        )
        for at in places(count)
    ]


def hgetall() -> Script:
    return [
        exchange(("HGETALL", f"hash-{number:02d}"), hash_words(number)) for number in range(PLACES)
    ]


def zrange(count: int) -> Script:
    """Ranges of *count* members by rank, at PLACES places."""
    return [
        exchange(
            ("ZRANGE", "ranking", first, first + count - 1),
            [ranked(number) for number in range(first, first + count)],
        )
        for first in range(0, ENTRIES - count, ENTRIES // PLACES)
    ]


def zrangebyscore(count: int) -> Script:
    """Ranges of *count* members by score, at PLACES places."""
    return [
        exchange(
            ("ZRANGEBYSCORE", "ranking", first, f"({first + count}"),
            [ranked(number) for number in range(first, first + count)],
        )
        for first in range(0, ENTRIES - count, ENTRIES // PLACES)
    ]


def geosearch() -> Script:
    """The 100 places that are nearest to the centre of a town, for each town."""
    return [
        exchange(
            ("GEOSEARCH", "places", "FROMLONLAT", *map(str, centre_of(town)), "BYRADIUS", 5, "km",
             "ASC", "COUNT", NEAREST),
            [place(town, number) for number in range(NEAREST)],
        )
        for town in range(TOWNS)
    ]  # fmt: skip


def group(client: int) -> bytes:
    return b"group-%02d" % client


def xreadgroup(client: int, at: int, count: int) -> Exchange:
    command = ("XREADGROUP", "GROUP", group(client), "me", "COUNT", count, "STREAMS", STREAM, ">")
    return Exchange(encode(command), new_entries(at, count))


@cache
def new_entries(at: int, count: int) -> bytes:
    """The answer to XREADGROUP, the same for every group."""
    return encode_answer([[STREAM, entries(at, count)]])


def read_and_acknowledge(client: int, count: int = 10) -> Script:
    """Read and acknowledge the whole stream; then set the group back."""
    script = []
    for at in range(0, ENTRIES, count):
        ids = [entry_id(number) for number in range(at, at + count)]
        script.append(xreadgroup(client, at, count))
        script.append(exchange(("XACK", STREAM, group(client), *ids), count))
    script.append(Exchange(encode(("XGROUP", "SETID", STREAM, group(client), 0)), OK))
    return script


def own_stream(client: int) -> bytes:
    return b"own-%02d" % client


def add_and_read(client: int, options: Command, done: Command) -> Script:
    """Add entries one by one, and have each delivered and *done*; then make the stream anew.

    *options* are those of XADD. *done* is a command and its words before the ids.
    """
    key, fields = own_stream(client), [b"f", b"v"]
    script = []
    for number in range(1000):
        added = entry_id(number)
        read = ("XREADGROUP", "GROUP", "g", "me", "COUNT", 1, "STREAMS", key, ">")
        ended: Argument | list[int] = 1 if done[0] == "XACK" else [1]
        script += [
            exchange(("XADD", key, *options, added, *fields), added),
            exchange(read, [[key, [[added, fields]]]]),
            exchange((done[0], key, *done[1:], added), ended),
        ]
    script.append(exchange(("DEL", key), 1))
    script.append(Exchange(encode(("XGROUP", "CREATE", key, "g", "$", "MKSTREAM")), OK))
    return script


def read_only(client: int, count: int = 100) -> Script:
    """Read the whole stream and leave it pending; then delete the group and create it again."""
    script = [xreadgroup(client, at, count) for at in range(0, ENTRIES, count)]
    script.append(exchange(("XGROUP", "DESTROY", STREAM, group(client)), 1))
    script.append(Exchange(encode(("XGROUP", "CREATE", STREAM, group(client), 0)), OK))
    return script


def make_groups(client: int, count: int = 4000) -> Script:
    """Many streams that have nothing but a group; then they are deleted. 200,000 in all."""
    keys = [b"empty-%02d-%d" % (client, number) for number in range(count)]
    make = [Exchange(encode(("XGROUP", "CREATE", key, "g", "$", "MKSTREAM")), OK) for key in keys]
    return [*make, exchange(("DEL", *keys), count)]


def read_by_many(client: int, consumers: int = 200, reads: int = 2) -> Script:
    """An entry for each of many consumers, in some rounds; then the group is made again.

    The first read makes the consumer. All groups together have 10,000 of them.
    """
    script = []
    for at in range(consumers * reads):
        command = (
            "XREADGROUP", "GROUP", group(client), b"consumer-%d" % (at % consumers), "COUNT", 1,
            "STREAMS", STREAM, ">",
        )  # fmt: skip
        script.append(Exchange(encode(command), new_entries(at, 1)))
    script.append(exchange(("XGROUP", "DESTROY", STREAM, group(client)), 1))
    script.append(Exchange(encode(("XGROUP", "CREATE", STREAM, group(client), 0)), OK))
    return script


def ring_list(client: int) -> bytes:
    return b"ring-%02d" % (client % CLIENTS)


def hand_on(client: int) -> Script:
    """Wait for an item, and pass it on to the next connection, which waits for it."""
    own, following = ring_list(client), ring_list(client + 1)
    item = ITEM.encode()
    return [
        Exchange(encode(("BRPOP", own, 0)), encode_answer([own, item])),
        exchange(("LPUSH", following, item), 1),
    ]


def shared(script: Script) -> Callable[[int], Script]:
    """One script for all connections; each begins at a different place in it."""
    return lambda client: script[client % len(script) :] + script[: client % len(script)]


# ---------------------------------------------------------------- the table

XADD: Final = ("*", *FIELDS)

WORKLOADS: Final = [
    Workload("ping", "PING", RedisBenchmark(("PING",))),
    Workload("set", "SET", RedisBenchmark(("SET", "key:__rand_int__", "xyz"))),
    Workload(
        "set-full",
        "SET, evicts another key",
        RedisBenchmark(("SET", "key:__rand_int__:__rand_int__", "x" * 64)),
        WITH_EVICTION,
        a_full_server,
    ),
    Workload("get", "GET", RedisBenchmark(("GET", "key:__rand_int__")), setup=some_keys),
    Workload("incr", "INCR", RedisBenchmark(("INCR", "counter:__rand_int__"))),
    Workload(
        "mget",
        "MGET, 10 keys",
        RedisBenchmark(("MGET", *["key:__rand_int__"] * 10)),
        setup=some_keys,
    ),
    Workload(
        "set-ifeq",
        "SET IFEQ",
        RedisBenchmark(("SET", "key:__rand_int__", "xyz", "IFEQ", "xyz")),
        AS_MUCH,
        some_keys,
        ("SET", "trial", "v", "IFEQ", "v"),
    ),
    Workload(
        "msetex",
        "MSETEX, 10 keys, EX",
        RedisBenchmark(
            ("MSETEX", "10", *("key:__rand_int__", "xyz") * 10, "EX", "1000"),
        ),
        AS_MUCH,
        some_keys,
        ("MSETEX", "1", "trial", "v"),
    ),
    Workload(
        "lmovem-100",
        "LMOVEM of 100",
        RedisBenchmark(("LMOVEM", "ring", "ring", "LEFT", "RIGHT", "COUNT", "100", "BULK")),
        AS_MUCH,
        a_ring,
        ("LMOVEM", "trial", "trial", "LEFT", "LEFT"),
    ),
    Workload(
        "get-many",
        "GET, 3,000,000 keys",
        RedisBenchmark(("GET", "key:__rand_int__"), keys=MANY_KEYS),
        setup=many_keys,
    ),
    Workload(
        "mget-many",
        "MGET, 10 of 3,000,000 keys",
        RedisBenchmark(("MGET", *["key:__rand_int__"] * 10), keys=MANY_KEYS),
        setup=many_keys,
    ),
    Workload("lpush", "LPUSH", RedisBenchmark(("LPUSH", "queue", ITEM))),
    Workload("rpop", "RPOP", RedisBenchmark(("RPOP", "queue")), setup=some_items),
    Workload("sadd", "SADD", RedisBenchmark(("SADD", "set", "member:__rand_int__"))),
    Workload("spop", "SPOP", RedisBenchmark(("SPOP", "set")), setup=some_members),
    Workload("hset", "HSET", RedisBenchmark(("HSET", "hash", "field:__rand_int__", "xyz"))),
    Workload(
        "hset-keys",
        "HSET, 100,000 hashes of 3 fields",
        RedisBenchmark(("HSET", "user:__rand_int__", "name", "ann", "age", "41", "city", "Graz")),
    ),
    Workload(
        "hget", "HGET", RedisBenchmark(("HGET", "hash", "field:__rand_int__")), setup=some_fields
    ),
    Workload(
        "hgetall-50",
        "HGETALL, 50 fields",
        Scripted(shared(hgetall())),
        BULK,
        small_hashes,
    ),
    Workload(
        "zadd", "ZADD", RedisBenchmark(("ZADD", "ranking", "__rand_int__", "member:__rand_int__"))
    ),
    Workload(
        "zrangebyscore-10",
        "ZRANGEBYSCORE of 10",
        Scripted(shared(zrangebyscore(10))),
        setup=a_ranking,
    ),
    Workload("zrange-100", "ZRANGE of 100", Scripted(shared(zrange(RANKED))), BULK, a_ranking),
    Workload(
        "geosearch",
        "GEOSEARCH, 100 of 5,000",
        Scripted(shared(geosearch())),
        BULK,
        places_in_towns,
    ),
    Workload("zpopmin", "ZPOPMIN", RedisBenchmark(("ZPOPMIN", "ranking")), setup=some_scores),
    Workload("eval", "EVAL of one GET", RedisBenchmark(EVAL), ONE, scripts),
    Workload("evalsha", "EVALSHA of one GET", RedisBenchmark(EVALSHA), ONE, scripts),
    Workload("fcall", "FCALL of one GET", RedisBenchmark(FCALL), ONE, scripts),
    Workload("eval-100", "EVAL of 100 GETs", RedisBenchmark(EVAL_HUNDRED), HUNDRED, scripts),
    Workload("xadd", "XADD, 3 fields", RedisBenchmark(("XADD", "readings", *XADD))),
    Workload(
        "xadd-maxlen",
        "XADD MAXLEN ~ 10000",
        RedisBenchmark(("XADD", "readings", "MAXLEN", "~", "10000", *XADD)),
    ),
    Workload("xrange-100", "XRANGE COUNT 100", Scripted(shared(xrange(100))), BULK, a_stream),
    Workload("xrange-1000", "XRANGE COUNT 1000", Scripted(shared(xrange(1000))), BULK, a_stream),
    Workload("xread-100", "XREAD COUNT 100", Scripted(shared(xread(100))), BULK, a_stream),
    Workload("xrevrange-10", "XREVRANGE COUNT 10", Scripted(shared(xrevrange(10))), setup=a_stream),
    Workload(
        "xreadgroup-10",
        "XREADGROUP COUNT 10 + XACK",
        Scripted(read_and_acknowledge, per_request=2, checked=False),
        setup=a_stream_with_groups,
    ),
    Workload(
        "xreadgroup-100",
        "XREADGROUP COUNT 100",
        Scripted(read_only, checked=False),
        BULK,
        a_stream_with_groups,
    ),
    Workload(
        "xreadgroup-consumers",
        "XREADGROUP, 10,000 consumers",
        Scripted(read_by_many, checked=False),
        AS_MUCH,
        a_stream_with_groups,
    ),
    Workload(
        "xgroup-create",
        "XGROUP CREATE, 200,000 keys",
        Scripted(make_groups, checked=False),
        AS_MUCH,
    ),
    Workload(
        "xadd-acked",
        "XADD MAXLEN 100 ACKED + XREADGROUP + XACK",
        Scripted(
            partial(add_and_read, options=("MAXLEN", 100, "ACKED"), done=("XACK", "g")),
            per_request=3,
            checked=False,
        ),
        AS_MUCH,
        own_streams,
        ("XADD", "trial", "ACKED", "*", "f", "v"),
    ),
    Workload(
        "xackdel",
        "XADD + XREADGROUP + XACKDEL",
        Scripted(
            partial(add_and_read, options=(), done=("XACKDEL", "g", "IDS", 1)),
            per_request=3,
            checked=False,
        ),
        AS_MUCH,
        own_streams,
        ("XACKDEL", "trial", "g", "IDS", 1, "1-1"),
    ),
    Workload(
        "claim",
        "XREADGROUP CLAIM of 10, 1,000,000 pending",
        RedisBenchmark(
            (
                "XREADGROUP",
                "GROUP",
                "g",
                "me",
                "COUNT",
                "10",
                "CLAIM",
                "0",
                "STREAMS",
                STREAM.decode(),
                ">",
            ),
        ),
        AS_MUCH,
        many_pending,
        ("XADD", "trial", "ACKED", "*", "f", "v"),  # what came with 8.2; CLAIM needs a group
    ),
    Workload(
        "xadd-idmp",
        "XADD IDMP",
        RedisBenchmark(("XADD", "once", "IDMP", "p", "__rand_int__", "*", *FIELDS)),
        AS_MUCH,
        trial=("XADD", "trial", "IDMP", "p", "1", "*", "f", "v"),
    ),
    Workload(
        "brpop",
        "BRPOP hand-over",
        Scripted(hand_on, per_request=2, checked=False),
        ONLY_DEPTH_1,
        tokens_in_the_ring,
    ),
    Workload("waiters", "XREAD, 200 woken by an XADD", Waiters(), ONLY_DEPTH_1),
    Workload("crew", "XREADGROUP, 1 of 200 woken by an XADD", Crew(), ONLY_DEPTH_1, a_crew),
    Workload("publish-1", "PUBLISH to 1", Subscribers(1), ONLY_DEPTH_1),
    Workload("publish-100", "PUBLISH to 100", Subscribers(100), ONLY_DEPTH_1),
    Workload(
        "publish-10000", "PUBLISH to 10,000", Subscribers(10_000), ONLY_DEPTH_1, room_for_many
    ),
]
