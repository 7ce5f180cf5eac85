"""Checking a file of commands: is each complete, and which are there?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from server.check.findings import Finding
from server.parts.persistence.files import Files
from server.parts.persistence.log_reader import LogReader, NoCommand, Torn
from server.process.progress_bar import ProgressBar

MOST_NAMED = 8  # kinds of commands
COMMANDS_A_LOOK = 256  # between two looks at the clock
MAX_NAME = 32  # characters of a command's name that are shown


def check_log(path: Path, files: Files, start: int = 0) -> Finding:
    """Check the commands from the offset *start* on."""
    data = files.read(path)
    found = Finding(path, "log", len(data))
    reader = LogReader(data, start)
    counts: Counter[str] = Counter()
    unit = start  # where the present command or transaction begins
    in_multi = False
    read = 0
    bar = ProgressBar(f"Checking {path.name!a}", len(data))
    try:
        while (argv := reader.next()) is not None:
            read += 1
            if read % COMMANDS_A_LOOK == 0:
                bar.show(reader.position)
            name = argv[0][:MAX_NAME].upper().decode("latin-1")
            counts[name] += 1
            in_multi = name == "MULTI" or (in_multi and name != "EXEC")
            if not in_multi:
                unit = reader.position
        if in_multi:
            found.problem, found.offset, found.torn = "a transaction without its EXEC", unit, True
    except Torn:
        found.problem, found.torn = "the last command is not complete", True
        found.offset = unit if in_multi else reader.position
    except NoCommand:
        found.problem, found.offset = "what follows is no command", reader.position
    finally:
        bar.end()
        reader.close()
    found.facts = [_counted(counts)]
    return found


def _counted(counts: Counter[str]) -> str:
    total = sum(counts.values())
    named = ", ".join(f"{name!a} {count:,}" for name, count in counts.most_common(MOST_NAMED))
    more = ", ..." if len(counts) > MOST_NAMED else ""
    return f"{total:,} commands" + (f": {named}{more}" if total else "")
