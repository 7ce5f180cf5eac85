"""Facts of the process: the program, this run of it, and the CPU time that it takes."""

from __future__ import annotations

import os
import struct
import sys
from resource import struct_rusage
from typing import NamedTuple

from server.config.parameters import Config
from server.observe.fact import (
    COUNT,
    MILLISECONDS,
    PER_SECOND,
    SECONDS,
    UNIX_MICROSECONDS,
    Always,
    Facts,
    Family,
    counter,
    flag,
    gauge,
    nothing,
    text,
)
from server.process import build
from server.process.identity import Instance
from server.process.supervision import supervisor

SECONDS_A_DAY = 86400
LRU_CLOCK = 2**24 - 1  # seconds; Redis counts them in 24 bits


class Run(NamedTuple):
    """A run of the server, at a moment: *now_ms* for commands, *unix_us* by its clock."""

    config: Config
    instance: Instance
    now_ms: int
    unix_us: int

    @property
    def uptime_s(self) -> int:
        return max(0, self.now_ms - self.instance.started_ms) // 1000


_uname = os.uname()
SYSTEM = f"{_uname.sysname} {_uname.release} {_uname.machine}"

RUN = Facts[Run](
    text("redis_version", lambda run: run.config.redis_version,
         "The Redis whose behaviour this is, or as redis-version has it"),
    text("redis_git_sha1", Always("00000000"), "Unknown: always zeros"),
    nothing("redis_git_dirty", COUNT, "Unknown: always 0"),
    text("redis_build_id", Always(build.build_id()), "Differs between builds"),
    text("redis_mode", Always("standalone"), "Neither a cluster nor a sentinel"),
    text("penstock_version", Always(build.VERSION), "The version of this server"),
    flag("penstock_compiled", Always(build.compiled()), "Whether the core runs compiled",
         ("no", "yes")),
    text("python_version", Always(sys.version.split()[0]),
         "The version of Python that runs the server"),
    text("os", Always(SYSTEM), "The system's name, its release, and the processor's kind"),
    gauge("arch_bits", COUNT, Always(struct.calcsize("P") * 8), "Bits of an address"),
    text("monotonic_clock", Always("POSIX clock_gettime"), "What waits are measured by"),
    text("atomicvar_api", Always("gil"), "What keeps threads apart: one at a time runs"),
    text("gcc_version", Always(build.compiler_version()), "The compiler; 0.0.0 for another one"),
    text("multiplexing_api", lambda run: "epoll" if build.uses_epoll() else run.config.event_loop,
         "What watches the sockets"),
    gauge("process_id", COUNT, lambda _: os.getpid(), "The process's id"),
    text("process_supervised", lambda run: supervisor(run.config),
         "What supervises the process: upstart, systemd, or no"),
    text("run_id", lambda run: run.instance.run_id, "Random: another one after each start"),
    gauge("tcp_port", COUNT, lambda run: run.config.port or run.config.tls_port,
          "The port that the server listens on; 0: none"),
    gauge("server_time_usec", UNIX_MICROSECONDS, lambda run: run.unix_us, "The server's clock"),
    gauge("uptime_in_seconds", SECONDS, lambda run: run.uptime_s, "Time since the start"),
    gauge("uptime_in_days", COUNT, lambda run: run.uptime_s // SECONDS_A_DAY,
          "Time since the start, in whole days"),
    gauge("hz", PER_SECOND, lambda run: run.config.hz, "Ticks of what is done in the background"),
    gauge("configured_hz", PER_SECOND, lambda run: run.config.hz, "The parameter hz"),
    gauge("lru_clock", SECONDS, lambda run: run.now_ms // 1000 & LRU_CLOCK,
          "The lowest 24 bits of the unix time"),
    text("executable", Always(sys.executable), "The program's file"),
    text("config_file", lambda run: run.config.file or "", "The file of parameters; empty: none"),
)  # fmt: skip

LISTENERS = Family[str](
    "listener", "listener",
    text("", lambda listener: listener,
         "A listener: its kind (tcp, unix, tls or http), bind for each address, and port"),
)  # fmt: skip

SHUTDOWN = Facts[int](
    gauge("shutdown_in_milliseconds", MILLISECONDS, lambda left: left,
          "How long SHUTDOWN will still wait for replicas"),
    when="While SHUTDOWN waits for replicas",
)  # fmt: skip

IO_THREADS = Facts[object](
    nothing("io_threads_active", COUNT, "Whether threads for I/O run: there are none"),
)


def cpu(suffix: str, whose: str) -> Facts[struct_rusage]:
    """CPU time of *whose*, in fields whose names end with *suffix*."""
    return Facts(
        counter(f"used_cpu_sys{suffix}", SECONDS, lambda usage: usage.ru_stime,
                f"CPU time in the kernel: {whose}", "%.6f"),
        counter(f"used_cpu_user{suffix}", SECONDS, lambda usage: usage.ru_utime,
                f"CPU time outside of the kernel: {whose}", "%.6f"),
    )  # fmt: skip


CPU = cpu("", "the process")
CPU_OF_CHILDREN = cpu("_children", "the forked children that have ended")
CPU_OF_THREAD = cpu("_main_thread", "the thread that runs commands")
