"""Kinds of clients of the fuzzer of sockets: who read, write, wait, listen and follow."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fuzz.socket_requests import Requests
from fuzz.socket_scene import Scene

WHOLE = (
    "LRANGE list:big 0 -1",
    "XRANGE stream:big - +",
    "HGETALL hash:big",
    "SMEMBERS set:big",
    "ZRANGE zset:big 0 -1 WITHSCORES",
)
SPINS = (1000, 1000, 1_000_000, 10_000_000)  # turns of a script's loop; the last take 0.1 s
WAITS = (0, 0, 0.01, 0.3, 1)


def large_reader(dice: Random, _scene: Scene) -> Requests:
    """Asks for more than any socket takes."""
    requests = Requests()
    for _ in range(dice.choice((1, 1, 2, 3, 3, 5, 20))):
        requests.add_all(["GET big" if dice.random() < 0.6 else dice.choice(WHOLE)])
    return requests


def pipeliner(dice: Random, scene: Scene) -> Requests:
    """Sends thousands of commands at once, mostly without a look at the replies."""
    requests = Requests()
    for _ in range(dice.choice((1, 1, 2))):
        count = dice.choice((10, 100, 100, 2000))
        requests.raw(scene.pipeline(dice, count), f"anyx{count}", count)
        requests.wait(dice.choice(WAITS[:3]))
    return requests


def echoer(dice: Random, _scene: Scene) -> Requests:
    """Sends the same command over and over; many are refused with an error."""
    line = dice.choice(
        (b"a\n", b"a\n", b"PING\r\n", b"GET q:0\r\n", b"CLIENT LIST\r\n", b"INFO\r\n")
    )
    is_short = line in (b"a\n", b"PING\r\n")
    count = dice.choice((1000, 20_000, dice.randrange(60_000, 100_000)) if is_short else (10, 100))
    return Requests().raw(line * count, f"{line.decode().strip()}x{count}", count)


def subscriber(dice: Random, _scene: Scene) -> Requests:
    requests = Requests()
    for _ in range(dice.choice((1, 2, 5))):
        requests.add(
            *dice.choice(
                (
                    ("SUBSCRIBE", "news", "sport", "__redis__:invalidate"),
                    ("PSUBSCRIBE", "*", "n*"),
                    ("SSUBSCRIBE", "news"),
                    ("PSUBSCRIBE", "__key*__:*"),
                    ("UNSUBSCRIBE",),
                    ("PUNSUBSCRIBE", "*"),
                    ("PING", "x" * 1000),
                    ("SUBSCRIBE", *range(2000)),
                )
            )
        )
        requests.wait(dice.choice(WAITS[:4]))
    return requests


def publisher(dice: Random, _scene: Scene) -> Requests:
    count = dice.choice((1, 20, 500))
    size = dice.choice((10, 1000, 200_000 if count < 500 else 5000))
    command = dice.choice(("PUBLISH", "PUBLISH", "SPUBLISH"))
    return Requests().add(command, "news", b"m" * size, times=count)


def monitor(dice: Random, _scene: Scene) -> Requests:
    requests = Requests().add("MONITOR")
    if dice.random() < 0.3:
        requests.wait(0.2).add("GET", "big").add("RESET")
    return requests


def tracker(dice: Random, scene: Scene) -> Requests:
    """Has itself told what changes, or another client."""
    requests = Requests()
    if dice.random() < 0.8:
        requests.add("HELLO", "3")
    target = dice.randrange(1, 400)
    options = dice.choice(
        (
            "", "", "BCAST", "BCAST PREFIX q: PREFIX string:", "OPTIN", "OPTOUT", "NOLOOP",
            f"REDIRECT {target}", f"BCAST REDIRECT {target}", "BCAST NOLOOP PREFIX list",
        )
    )  # fmt: skip
    requests.add(*f"CLIENT TRACKING ON {options}".split())
    if dice.random() < 0.2:
        prefixes = " ".join(f"PREFIX p{number}:" for number in range(1000))
        requests.add_all(["CLIENT TRACKING OFF", f"CLIENT TRACKING ON BCAST {prefixes}"])
    requests.add("CLIENT", "CACHING", "YES")
    requests.add("MGET", *(f"{kind}:{n}" for kind in ("string", "q", "list") for n in range(3)))
    requests.raw(scene.pipeline(dice, 200), "anyx200", 200)
    if dice.random() < 0.5:
        requests.wait(dice.choice(WAITS)).add("GET", "big").add("CLIENT", "TRACKING", "OFF")
    return requests


def blocked(dice: Random, _scene: Scene) -> Requests:
    """Waits, with other commands pipelined after it."""
    requests = Requests()
    timeout = dice.choice(("0", "0", "0.01", "0.5"))
    milliseconds = int(float(timeout) * 1000)
    commands = (
        f"BLPOP q:0 q:1 q:2 {timeout}",
        f"BRPOP q:0 {timeout}",
        f"BLMOVE q:0 q:1 LEFT RIGHT {timeout}",
        f"BLMOVE q:1 q:0 RIGHT LEFT {timeout}",
        f"BRPOPLPUSH q:0 q:0 {timeout}",
        f"BLMOVEM q:0 q:1 LEFT RIGHT {timeout} EXACTLY 3 BULK",
        f"BLMOVEM q:1 q:0 RIGHT RIGHT {timeout} COUNT 2 OBO",
        f"BLMPOP {timeout} 2 q:0 q:1 LEFT COUNT 5",
        f"BZPOPMIN q:zset:0 {timeout}",
        f"BZMPOP {timeout} 1 q:zset:0 MAX",
        f"XREAD BLOCK {milliseconds} STREAMS q:stream:0 q:stream:1 $ $",
        f"XREADGROUP GROUP g c BLOCK {milliseconds} STREAMS q:stream:0 >",
        f"XREADGROUP GROUP g d BLOCK {milliseconds} CLAIM 20 STREAMS q:stream:0 >",
        f"XREADGROUP GROUP g e BLOCK {milliseconds} CLAIM 0 MAXCOUNT 2 STREAMS q:stream:0 >",
        f"XREADGROUP GROUP g f BLOCK {milliseconds} WITHFENCE WITHDEADLINE STREAMS q:stream:0 >",
        f"XREADGROUP GROUP g h BLOCK {milliseconds} WHERE f 1 v NOFIELDS STREAMS q:stream:0 >",
        f"XREADGROUP GROUP g i BLOCK {milliseconds} COUNT 1 MKGROUP MATCH q:stream:* st*:[01] >",
        f"XREAD BLOCK {milliseconds} MATCH q:* dead $",
        f"XREAD BLOCK {milliseconds} WHERE field 1 nothing MATCH stream:* 0",
        f"WAIT 3 {milliseconds}",
        f"WAITAOF 1 0 {milliseconds}",
        f"WAITAOF 1 2 {milliseconds}",
    )
    if dice.random() < 0.2:
        requests.add("HELLO", "3").add("CLIENT", "TRACKING", "ON", "BCAST")
    for _ in range(dice.choice((1, 1, 3))):
        requests.add_all([dice.choice(commands)])
        if dice.random() < 0.3:
            requests.add("GET", "big")
    return requests


def feeder(dice: Random, _scene: Scene) -> Requests:
    """Serves those who wait."""
    requests = Requests()
    value = b"v" * dice.choice((1, 1, 1000, 1_000_000))
    feeds = (
        ("RPUSH", "q:0", value),
        ("LPUSH", "q:1", value, value),
        ("XADD", "q:stream:0", "*", "f", value),
        tuple(f"XADD q:stream:0 MAXLEN 50 ACKED IDMP p {dice.randrange(9)} * f v".split()),
        ("XNACK", "q:stream:0", "g", "FAIL", "IDS", 1, "1-1", "FORCE"),
        ("XTRIM", "q:stream:0", "MAXLEN", 5, "DELREF"),
        tuple(
            "XGROUP CFGSET q:stream:0 g VISIBILITY 3 MAXDELIVERIES 2 DEADLETTER dead MKSTREAM"
            f" MAXPENDING {dice.choice((0, 1, 5))} PAUSED no".split()
        ),
        tuple(
            f"XGROUP CFGSET q:stream:0 g ACTIVE {dice.choice((0, 1))} TIMEOUT 5"
            f" CONSUMERTIMEOUT {dice.choice((0, 4, 40))} MAXPENDINGPERCONSUMER"
            f" {dice.choice((0, 1))} BACKOFF {dice.choice(('0', '1 9', '30'))}".split()
        ),
        ("XGROUP", "PAUSE", "q:stream:0", "g"),
        tuple(
            f"XCFGSET q:stream:0 RETAIN-AGE {dice.choice((0, 1, 50))} RETAIN-LENGTH"
            f" {dice.choice((0, 3))} RETAIN-ACKED {dice.choice(('yes', 'no'))} COMPACT f"
            f" MIN-AGE {dice.choice((0, 20))}".split()
        ),
        ("XREDRIVE", "dead"),
        ("XADD", "q:stream:0", "DELAY", dice.randrange(20), "*", "f", value),
        ("XSCHEDULE", "q:stream:0", "job", "EVERY", dice.randrange(1, 20), "*", "f", "v"),
        ("XSCHEDULE", "q:stream:1", "tick", "CRON", "* * * * * *", "EXPIRE", 5, "*", "f", value),
        tuple(f"XNACK q:stream:0 g FAIL IDS 1 1-1 FORCE DELAY {dice.randrange(9)}".split()),
        ("XGROUP", "DELCONSUMER", "q:stream:0", "g", dice.choice("cdef"), "HANDOVER"),
        ("XACK", "q:stream:0", "g", "UPTO", f"{2**63}-0"),
        ("XGROUP", "SETID", "q:stream:0", "g", "0", "CLEAR"),
        ("COPY", "q:stream:0", "q:stream:1", "REPLACE"),
        ("XUNSCHEDULE", "q:stream:0", "NAMES", "job"),
        ("XADD", "q:stream:0", "EXPIRE", dice.randrange(1, 20), "*", "f", value),
        ("ZADD", "q:zset:0", 1, value[:100]),
        ("DEL", "q:0", "q:stream:0"),
        ("SET", "q:0", "a string"),
        ("XGROUP", "DESTROY", "q:stream:0", "g"),
        ("XGROUP", "CREATE", "q:stream:0", "g", "0", "MKSTREAM"),
        ("CLIENT", "UNBLOCK", dice.randrange(1, 400), dice.choice(("TIMEOUT", "ERROR"))),
        ("SWAPDB", 0, 1),
    )
    is_whole = dice.random() < 0.3
    if is_whole:
        requests.add("MULTI")
    for _ in range(dice.choice((1, 5, 50 if len(value) < 10_000 else 2))):
        weights = [9, 9, 9, 4, 4, 2, 4, 4, 1, 2, 3, 4, 2]
        weights += [2, 2, 2, 1, 1, 1, 1, 4, 9, 3, 2, 2, 2, 2, 1]
        requests.add(*dice.choices(feeds, weights)[0])
    if is_whole:
        requests.add("EXEC")
    return requests


def muted_writer(dice: Random, _scene: Scene) -> Requests:
    """Sends and forgets: it wants no replies, keeps the server busy, and may be gone by then."""
    requests = Requests().add("CLIENT", "REPLY", "OFF")
    requests.add("SET", "q:s", b"v" * dice.choice((10, 10_000)), times=dice.choice((1, 20)))
    requests.add("EVAL", "for i = 1, ARGV[1] do end", 0, dice.choice(SPINS))
    return requests.add("SET", "q:s", "v", times=5)


def transactor(dice: Random, scene: Scene) -> Requests:
    requests = Requests().add("WATCH", "q:0", "string:0", "big").add("MULTI")
    for _ in range(dice.choice((1, 5))):
        chance = dice.random()
        if chance < 0.4:
            requests.add("GET", "big")
        elif chance < 0.5:
            requests.add("BLPOP", "q:0", "0")
        elif chance < 0.6:
            requests.add("SET", "large", b"x" * 500_000)
        else:
            requests.raw(scene.pipeline(dice, 50), "anyx50", 50)
    return requests.wait(dice.choice(WAITS)).add(dice.choice(("EXEC", "EXEC", "EXEC", "DISCARD")))


def scripter(dice: Random, _scene: Scene) -> Requests:
    """Scripts that answer much, run long, write, or fail."""
    requests = Requests()
    spins = dice.choice(SPINS)
    scripts = (
        ("EVAL", "return string.rep('x', ARGV[1])", 0, dice.choice((10, 5_000_000))),
        ("EVAL", "local t = {} for i = 1, 3 do t[i] = redis.call('GET', 'big') end return t", 0),
        ("EVAL", "for i = 1, ARGV[1] do end return 1", 0, spins),
        ("EVAL", "for i = 1, ARGV[1] do redis.call('SET', 'q:s', i) end", 0, spins // 1000),
        ("EVAL", "redis.call('SET', 'q:s', 1) for i = 1, ARGV[1] do end return 1", 0, spins),
        ("EVAL", "for i = 1, 2000 do redis.call('PUBLISH', 'news', 'm') end", 0),
        ("EVAL", "redis.call('RPUSH', 'q:0', 'v') error('failed')", 0),
        ("EVAL", "local a = {} a[1] = a return a", 0),
        ("EVAL", "return cjson.encode(redis.call('LRANGE', 'list:big', 0, -1))", 0),
        ("FCALL", "spin", 0, spins),
        ("FCALL", "write_and_spin", 1, "q:s", spins),
        ("FCALL", "run", 0, "GET", "big"),
        ("SCRIPT", "KILL"),
        ("SCRIPT", "KILL"),
        ("FUNCTION", "KILL"),
        ("SCRIPT", "FLUSH", "ASYNC"),
        ("FUNCTION", "DUMP"),
        ("FUNCTION", "FLUSH"),
    )
    for _ in range(dice.choice((1, 2, 4))):
        requests.add(*dice.choice(scripts))
    return requests


def script_killer(dice: Random, _scene: Scene) -> Requests:
    """Looks again and again whether a script may be ended."""
    requests = Requests()
    for _ in range(20):
        requests.add(dice.choice(("SCRIPT", "FUNCTION")), "KILL").wait(0.02)
    return requests


def replica(dice: Random, _scene: Scene) -> Requests:
    """Asks for a copy, and acknowledges what it gets, or something else."""
    requests = Requests()
    if dice.random() < 0.9:
        requests.add("PING").add("REPLCONF", "listening-port", dice.randrange(65536))
        capabilities = dice.choice(("eof", "eof", "psync2", "nothing"))
        requests.add("REPLCONF", "capa", capabilities, "capa", "psync2")
    if dice.random() < 0.1:
        requests.add("REPLCONF", "rdb-only", "1")
    offset = dice.choice((-1, -1, -1, 0, 1, 10**6))
    wish = dice.choice((("SYNC",), *(("PSYNC", "?", offset),) * 5, ("PSYNC", "0" * 40, offset)))
    requests.add(*wish)
    acknowledged = 0
    for _ in range(dice.choice((0, 0, 3, 10))):
        acknowledged += dice.choice((0, 100, 10_000, 10**9))
        requests.wait(dice.choice((0.0, 0.05, 0.3))).add("REPLCONF", "ACK", acknowledged)
    if dice.random() < 0.15:
        requests.add(*dice.choice((("GET", "big"), ("PSYNC", "?", -1), ("SYNC",), ("RESET",))))
    return requests


def writer(dice: Random, _scene: Scene) -> Requests:
    """Sends large values, some larger than allowed, some never whole."""
    requests = Requests()
    size = dice.choice((100_000, 1_500_000, 5_000_000))
    chance = dice.random()
    if chance < 0.4:
        requests.add("SET", "large", b"v" * size, times=dice.choice((1, 2)))
    elif chance < 0.6:
        requests.add("MSET", *(word for n in range(3000) for word in (f"string:{n}", "v" * 100)))
    elif chance < 0.7:
        requests.raw(b"*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$536870912\r\n" + b"v" * size, "SET ...")
    elif chance < 0.8:
        requests.raw(b"*3000\r\n" + b"$1000\r\n%b\r\n" % (b"v" * 1000) * 2000, "never whole")
    else:
        requests.add("APPEND", "large", b"v" * size).add("GETRANGE", "large", 0, -1)
        requests.add("DEL", "large")
    return requests


def stranger(dice: Random, _scene: Scene) -> Requests:
    """Speaks no RESP."""
    data = dice.choice(
        (
            b"POST / HTTP/1.1\r\n\r\n",
            b"Host: localhost\r\n",
            b"GET / HTTP/1.0\r\n\r\n" * 10,
            dice.randbytes(2000),
            b"*" + b"9" * 40 + b"\r\n",
            b"*-1\r\n*0\r\n\r\n" * 2000,
            b"x" * 70_000,
            b'SET a "\\x\r\n' * 100,
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + dice.randbytes(300),
        )
    )
    return Requests().raw(data, "noise", 0)


Kind = tuple[float, Callable[[Random, Scene], Requests]]
CLIENTS: dict[str, Kind] = {
    "large reader": (14, large_reader),
    "pipeliner": (14, pipeliner),
    "echoer": (5, echoer),
    "subscriber": (6, subscriber),
    "publisher": (4, publisher),
    "monitor": (2, monitor),
    "tracker": (6, tracker),
    "blocked": (9, blocked),
    "feeder": (7, feeder),
    "muted writer": (4, muted_writer),
    "transactor": (6, transactor),
    "scripter": (4, scripter),
    "script killer": (1, script_killer),
    "replica": (6, replica),
    "writer": (4, writer),
    "stranger": (4, stranger),
}
