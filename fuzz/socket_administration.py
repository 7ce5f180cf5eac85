"""Kinds of clients of the fuzzer of sockets: administrators who disturb the others."""

from __future__ import annotations

from random import Random

from fuzz.socket_data import LARGE_KEYS, PASSWORD, filled, with_big_string
from fuzz.socket_kinds import Kind
from fuzz.socket_requests import Requests
from fuzz.socket_scene import Scene

# CONFIG SET: the first value is the usual one, and drawn every other time. None of them locks all
# clients out, so what is usual can be obtained again.
LIMITS: dict[str, list[str]] = {
    "client-output-buffer-limit": [
        "normal 0 0 0 slave 256mb 64mb 60 pubsub 32mb 8mb 60", "normal 1mb 100kb 1",
        "normal 30mb 10mb 1", "pubsub 64kb 16kb 1", "slave 1mb 256kb 1", "slave 100 0 0",
    ],
    "client-query-buffer-limit": ["1gb", "1mb"],
    "proto-max-bulk-len": ["512mb", "1mb"],
    "maxmemory-clients": ["0", "1mb", "5mb", "10%"],
    "maxclients": ["10000", "10000", "100", "40"],
    "timeout": ["0", "1"],
    "maxmemory": ["0", "0", "1mb", "40mb"],
    "maxmemory-policy": [
        "noeviction", "allkeys-lru", "allkeys-random", "volatile-ttl", "allkeys-lrm",
    ],
    "busy-reply-threshold": ["5000", "1", "10", "100", "0"],
    "tracking-table-max-keys": ["1000000", "1", "100"],
    "notify-keyspace-events": ["", "KEA", "KEAocSTIV"],
    "requirepass": ["", PASSWORD],
    "repl-backlog-size": ["1mb", "16kb", "10mb"],
    "repl-diskless-sync": ["yes", "no"],
    "repl-diskless-sync-delay": ["0", "0", "1"],
    "repl-diskless-load": ["disabled", "swapdb", "on-empty-db"],
    "repl-timeout": ["60", "1"],
    "repl-ping-replica-period": ["10", "1"],
    "min-replicas-to-write": ["0", "0", "1"],
    "replica-read-only": ["yes", "no"],
    "replica-serve-stale-data": ["yes", "no"],
    "appendonly": ["yes", "no"],
    "appendfsync": ["always", "everysec", "no"],
    "auto-aof-rewrite-min-size": ["64mb", "10kb"],
    "aof-use-rdb-preamble": ["yes", "no"],
    "save": ["", "", "1 1000", "5 1"],
    "rdbcompression": ["yes", "no"],
    "hz": ["10", "1", "100"],
    "slowlog-log-slower-than": ["10000", "0", "-1"],
    "commandlog-request-larger-than": ["1048576", "0", "100", "-1"],
    "commandlog-reply-larger-than": ["1048576", "0", "100", "-1"],
    "commandlog-large-request-max-len": ["128", "1", "0"],
    "stream-policy": ["", "*stream:* RETAIN-LENGTH 100", "dead RETAIN-AGE 1s"],
    "latency-monitor-threshold": ["0", "1"],
    "loglevel": ["notice", "debug", "verbose"],
    "lua-memory-limit": ["512mb", "1mb"],
    "tcp-keepalive": ["300", "0", "1"],
    "tls-session-caching": ["yes", "no"],
    "max-new-tls-connections-per-cycle": ["1000", "1"],
    "active-expire-effort": ["1", "10"],
    "shutdown-timeout": ["1", "0"],
}  # fmt: skip

ADDRESSES = ("127.0.0.1", "127.0.0.1 127.0.0.2", "127.0.0.1 -::1")  # to listen at


def filler(dice: Random, _scene: Scene) -> Requests:
    """Makes again what others have removed."""
    requests = filled(dice.choice((100, 3000)), Requests())
    if dice.random() < 0.8:
        with_big_string(requests)
    return requests


def restorer(_dice: Random, _scene: Scene) -> Requests:
    """Makes everything usual again."""
    usual = (word for name, values in LIMITS.items() for word in (name, values[0]))
    requests = Requests().add("SCRIPT", "KILL").add("REPLICAOF", "NO", "ONE")
    requests.add("CONFIG", "SET", *usual).add("CLIENT", "UNPAUSE")
    return with_big_string(filled(1000, requests))


def killer(dice: Random, scene: Scene) -> Requests:
    """CLIENT KILL, in all its forms."""
    requests = Requests()
    skips = dice.choice(("yes", "no", "no"))
    filters = (
        "TYPE normal", "TYPE normal", "TYPE pubsub", "TYPE replica", "TYPE master", "USER ann",
        "USER default", f"LADDR 127.0.0.1:{scene.ports[0]}", "MAXAGE 1", "TYPE normal MAXAGE 1",
        *(f"ID {dice.randrange(1, 1000)}" for _ in range(6)),
    )  # fmt: skip
    for _ in range(dice.choice((1, 1, 5))):
        requests.add(*f"CLIENT KILL {dice.choice(filters)} SKIPME {skips}".split())
        requests.wait(dice.choice((0.0, 0.05)))
    return requests


def pauser(dice: Random, _scene: Scene) -> Requests:
    requests = Requests()
    how = dice.choice(("ALL", "WRITE", "WRITE"))
    requests.add("CLIENT", "PAUSE", dice.choice((1, 50, 200)), how)
    requests.add("GET", "big").add("RPUSH", "q:0", "v")
    if dice.random() < 0.5:
        requests.wait(0.05).add("CLIENT", "UNPAUSE")
    return requests


def configurer(dice: Random, scene: Scene) -> Requests:
    requests = Requests()
    for _ in range(dice.choice((1, 2, 4))):
        name = dice.choice(list(LIMITS))
        values = LIMITS[name]
        value = values[0] if dice.random() < 0.5 else dice.choice(values)
        requests.add("CONFIG", "SET", name, value)
    if dice.random() < 0.1:
        requests.add("CONFIG", "SET", "tls-port", 0)
        requests.wait(0.1).add("CONFIG", "SET", "tls-port", scene.tls_ports[scene.at])
    if dice.random() < 0.1:
        requests.add("CONFIG", "SET", "bind", dice.choice(ADDRESSES))
    if dice.random() < 0.1:  # nobody must be cut off between the two, or none would come in again
        requests.add("MULTI").add("CONFIG", "SET", "port", 0)
        requests.add("CONFIG", "SET", "port", scene.ports[scene.at]).add("EXEC")
    return requests


def migrant(dice: Random, scene: Scene) -> Requests:
    """MIGRATE to the other server, to nobody, and to one that lies."""
    requests = Requests()
    port = dice.choice((*scene.ports, *scene.ports, *scene.primaries, 1))
    keys = dice.sample(("big", "q:0", "string:0", "stream:0", *LARGE_KEYS), 3)
    mode = dice.choice(("COPY REPLACE", "REPLACE", "COPY", ""))
    timeout = dice.choice((1, 50, 500))
    auth = dice.choice(("", "", f"AUTH {PASSWORD}", f"AUTH2 ann {PASSWORD}"))
    words = f"MIGRATE 127.0.0.1 {port}".split()
    requests.add(*words, "", 0, timeout, *f"{mode} {auth} KEYS".split(), *keys)
    return requests


def saver(dice: Random, _scene: Scene) -> Requests:
    """Children, loads of all data, backups and counts of keys, during all other commands."""
    commands = (
        "BGSAVE", "BGSAVE SCHEDULE", "BGREWRITEAOF", "BGREWRITEAOF", "SAVE", "DEBUG RELOAD",
        "DEBUG RELOAD NOSAVE", "DEBUG LOADAOF", "LASTSAVE", "DEBUG DIGEST", "DEBUG SLEEP 0.05",
        "DEBUG OBJECT big", "DEBUG POPULATE 1000 string", "DEBUG QUICKLIST-PACKED-THRESHOLD 100b",
        "DEBUG AOF-FLUSH-SLEEP 1000", "DEBUG AOF-FLUSH-SLEEP 0", "DEBUG JMAP", "MEMORY PURGE",
        "DEBUG SET-ACTIVE-EXPIRE 1", "MEMORY DOCTOR", "CONFIG REWRITE", "BGSAVE CANCEL",
        "COMMANDLOG GET 5 large-request", "COMMANDLOG GET -1 large-reply",
        "COMMANDLOG RESET large-reply",
        "BACKUP START", "BACKUP START", "BACKUP SEAL", "BACKUP ABORT", "BACKUP CLEANUP",
        "HOTKEYS START METRICS 2 CPU NET", "HOTKEYS STOP", "HOTKEYS GET", "HOTKEYS RESET",
    )  # fmt: skip
    requests = Requests()
    for _ in range(dice.choice((1, 2))):
        requests.add_all([dice.choice(commands)]).wait(dice.choice((0.0, 0.05)))
    if dice.random() < 0.3:
        requests.add("GET", "big")
    return requests


def user_keeper(dice: Random, _scene: Scene) -> Requests:
    """Takes rights from existing users."""
    rules = (
        f"ann on >{PASSWORD} ~* &* +@all", "ann off", "ann -@all", "ann resetkeys", "ann reset",
        "ann resetchannels", "ann -get", "ann (+get ~q:*)", "ann clearselectors", "bob resetpass",
        f"bob on >{PASSWORD} ~* &* +@read +@connection", "bob &new",
    )  # fmt: skip
    requests = Requests()
    for _ in range(dice.choice((1, 3))):
        if dice.random() < 0.3:
            requests.add("ACL", "DELUSER", dice.choice(("ann", "bob")))
        else:
            requests.add(*f"ACL SETUSER {dice.choice(rules)}".split())
        requests.wait(dice.choice((0.0, 0.02)))
    return requests


def leader(dice: Random, scene: Scene) -> Requests:
    """Gives the server another role."""
    requests = Requests()
    port = dice.choice((*scene.ports, *scene.primaries, *scene.primaries, 1))
    other = dice.choice(scene.ports)
    commands = (
        "REPLICAOF NO ONE", "REPLICAOF NO ONE", f"REPLICAOF 127.0.0.1 {port}",
        f"REPLICAOF 127.0.0.1 {port}", f"FAILOVER TO 127.0.0.1 {other} TIMEOUT 300",
        f"FAILOVER TO 127.0.0.1 {other} FORCE TIMEOUT 100", "FAILOVER TIMEOUT 300",
        "FAILOVER ABORT",
    )  # fmt: skip
    for _ in range(dice.choice((1, 2, 3))):
        requests.add(*dice.choice(commands).split()).wait(dice.choice((0.0, 0.1, 0.5)))
    if dice.random() < 0.5:
        requests.add("REPLICAOF", "NO", "ONE")
    return requests


def stopper(dice: Random, _scene: Scene) -> Requests:
    """SHUTDOWN; the server is started again."""
    requests = Requests()
    if dice.random() < 0.3:
        requests.add(dice.choice(("BGSAVE", "BGREWRITEAOF", "MULTI", "GET big")).split()[0])
    options = dice.choice(("NOSAVE", "SAVE", "", "NOW", "NOSAVE NOW FORCE", "ABORT"))
    return requests.add("SHUTDOWN", *options.split())


ADMINISTRATION: dict[str, Kind] = {
    "filler": (1.5, filler),
    "restorer": (2, restorer),
    "killer": (4, killer),
    "pauser": (1.5, pauser),
    "configurer": (4, configurer),
    "migrant": (1.5, migrant),
    "saver": (1.5, saver),
    "user keeper": (2, user_keeper),
    "leader": (1.2, leader),
    "stopper": (0.3, stopper),
}
