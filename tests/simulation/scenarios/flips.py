"""One server whose append-only file has a flipped bit: it refuses that, or has all data."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

from tests.server.parts.persistence.flipped_bits import LINE, RANGE
from tests.simulation.client import Wire
from tests.simulation.host import Host
from tests.simulation.same_data import groups_of
from tests.simulation.scenarios.common import finder, say, settle, until_done, variety
from tests.simulation.world import World

FLIPS = 12  # of a world
SUM = re.compile(rb"#S[:+][0-9a-f]{30}\r\n")
FILES = ("", ".incr.aof", ".incr.aof", ".base.rdb", ".base.aof", ".manifest")  # ends of names


async def flips(world: World) -> None:
    """Each time one bit is flipped while the server is down; what is loaded is what there was."""
    random = world.random
    appendfsync = random.choice(("always", "everysec"))
    host = world.host("p", appendonly="yes", appendfsync=appendfsync, **variety(world))
    host.start()
    assert await world.serving(host), host.failure
    for _ in range(random.randint(1, 3)):
        writers = [world.spawn(_write(world, host, f"client:{n}")) for n in range(2)]
        await asyncio.sleep(random.uniform(0.2, 2.0))
        if random.random() < 0.5:
            await say(world, host, "BGREWRITEAOF")
            await asyncio.sleep(random.uniform(0, 0.5))
        if random.random() < 0.7:
            (host.kill if random.random() < 0.5 else host.power_off)()
            await settle(world, host)
        await until_done(writers)
    (host.kill if random.random() < 0.7 else host.power_off)()
    await _flip_bits(world, host)


async def _write(world: World, host: Host, client: str) -> None:
    """Some commands of all kinds; what has become of each does not matter here."""
    random = world.random
    wire: Wire | None = None
    for number in range(random.randint(10, 60)):
        await asyncio.sleep(random.uniform(0, 0.1))
        wire = (
            wire if wire is not None and not wire.is_lost else await finder(world, host, client)()
        )
        if wire is None:
            continue
        value = random.randbytes(random.choice((0, 3, 40, 700)))
        with suppress(OSError):
            await wire.call(*random.choice(_commands(number, value)))


def _commands(number: int, value: bytes) -> list[tuple[bytes | str | int, ...]]:
    key = number % 5
    return [
        ("SET", f"s:{key}", value),
        ("SET", f"s:{key}", number, "PX", 100_000_000),
        ("RPUSH", f"l:{key}", value, number),
        ("HSET", f"h:{key}", f"f{number % 3}", value),
        ("INCR", "counter"),
        ("DEL", f"s:{key}"),
        ("XADD", "jobs", "*", "n", number, "v", value),
        ("XGROUP", "CREATE", "jobs", "workers", "0", "MKSTREAM"),
        ("XREADGROUP", "GROUP", "workers", f"c{key}", "COUNT", 2, "STREAMS", "jobs", ">"),
        ("XTRIM", "jobs", "MAXLEN", 50),
        ("EVAL", "return 1", 0),
    ]


async def _flip_bits(world: World, host: Host) -> None:
    whole = host.disk
    host.disk = whole.after_kill()
    host.start()
    assert await world.serving(host), host.failure
    right = await _held(world, host)
    host.kill()
    for _ in range(FLIPS):
        host.disk = whole.after_kill()
        flipped = host.disk.flip_a_bit(world.random.choice(FILES))
        if flipped is None:
            continue
        path, at, bit = flipped
        if path.name.endswith(".aof") and at >= _summed(bytes(whole.names[path].data)):
            continue
        names = host.disk.names_of(path)
        host.start()
        if await world.serving(host):
            world.count("flips: loaded")
            if await _held(world, host) != right:
                world.problem(f"other data are there, with bit {bit} of {path} flipped at {at}")
            host.kill()
        else:
            world.count("flips: refused")
            if not _is_named(names, at, host.failure):
                world.problem(f"{path} has a flipped bit at {at}, and it says: {host.failure}")


def _summed(data: bytes) -> int:
    """How many bytes of an AOF its checksums are about, with these.

    A power cut may leave a command without its checksum, at the end. It is loaded, if it is whole,
    and has a checksum from then on.
    """
    found = data.rfind(b"#S")
    while found >= 0 and not SUM.match(data, found):
        found = data.rfind(b"#S", 0, found)
    return found + LINE if found >= 0 else 0


def _is_named(names: list[str], at: int, failure: str) -> bool:
    """Whether *failure* tells of that byte of a file with *names*, by a range or by a name."""
    if not any(name in failure or name.endswith(".manifest") for name in names):
        return False
    found = RANGE.search(failure)
    if found is None:
        return True
    start, end = map(int, found.groups())
    return start <= at < end + LINE


async def _held(world: World, host: Host) -> tuple[str, list[object]]:
    return host.digest(), await groups_of(world, host)
