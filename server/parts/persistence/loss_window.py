"""What is lost with the present setting, in a line: for the start's log, and INFO.

docs/guarantees.md has the table of settings and failures that this is a line of. There are no
commas in it: clients take a value of INFO that has some for a list.
"""

from __future__ import annotations

from server.config.parameters import Config
from server.parts.persistence.append_only import AppendOnly, Mode

FSYNC = {
    "always": "nothing",
    "everysec": "what was written since the last fsync began (one to two seconds)",
    "no": "what the kernel has not written by itself (usually up to 30 seconds)",
}


def loss_window(config: Config, append_only: AppendOnly) -> str:
    """What is lost of what was answered, if the process is killed, and if the machine is lost."""
    if append_only.mode is not Mode.ON:
        return f"process killed or machine lost: {_without_log(config, append_only)}"
    if append_only.log.error:
        return "the disk fails: nothing more is promised until it takes writes again"
    lost = FSYNC[config.appendfsync]
    if config.no_appendfsync_on_rewrite:
        lost += "; while a child writes: all since it began"
    return f"process killed: nothing; machine lost: {lost}"


def _without_log(config: Config, append_only: AppendOnly) -> str:
    lost = "all data (nothing is saved)"
    if config.save:
        points = " ".join(f"{seconds} {changes}" for seconds, changes in config.save)
        lost = f"all since the last snapshot (save {points})"
    if append_only.mode is Mode.WAITING:
        lost += "; the append-only file has no base yet"
    return lost
