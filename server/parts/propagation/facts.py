"""Facts of commands that fail when they run again."""

from __future__ import annotations

from server.observe.fact import COUNT, Facts, counter, gauge
from server.parts.propagation.replay import ReplayFailures

ALL = Facts[ReplayFailures](
    counter("unexpected_error_replies", COUNT, lambda failures: failures.total,
            "Commands of the AOF or of a primary that have failed"),
)  # fmt: skip

OF_LOG = Facts[ReplayFailures](
    gauge("aof_load_failed_commands", COUNT, lambda failures: failures.of_log,
          "Commands of the AOF that have failed when it was last loaded"),
)  # fmt: skip
