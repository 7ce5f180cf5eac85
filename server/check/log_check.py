"""Checking a file of commands: is each complete, are checksums right, and which are there?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from server.check.findings import Finding
from server.parts.persistence.files import Files
from server.parts.persistence.log_reader import Damaged, LogReader, NoCommand, Torn
from server.process.progress_bar import ProgressBar

MOST_NAMED = 8  # kinds of commands
COMMANDS_A_LOOK = 256  # between two looks at the clock
MAX_NAME = 32  # characters of a command's name that are shown


def check_log(path: Path, files: Files, start: int = 0) -> Finding:
    """Check the commands from the offset *start* on; damage is passed, as far as sums allow."""
    data = files.read(path)
    found = Finding(path, "log", len(data))
    reader = LogReader(data, start)
    counts: Counter[str] = Counter()
    damage: list[Damaged] = []
    bar = ProgressBar(f"Checking {path.name!a}", len(data))
    try:
        while True:
            try:
                _read(reader, counts, found, bar)
                break
            except Damaged as one:
                damage.append(one)
                if not reader.resume(one):
                    break
    finally:
        bar.end()
        summed = reader.summed
        reader.close()
    if damage:
        found.problem, found.offset, found.torn = str(damage[0]), damage[0].start, False
        found.facts = [
            f"damaged: the bytes {one.start} to {one.end}" for one in damage[:MOST_NAMED]
        ]
    if summed:
        found.facts.append(f"the checksums of {summed:,} bytes are right")
    found.facts.append(_counted(counts))
    return found


def _read(reader: LogReader, counts: Counter[str], found: Finding, bar: ProgressBar) -> None:
    """Count the commands up to the end, or to the first problem. Raises Damaged."""
    unit = reader.position  # where the present command or transaction begins
    in_multi = False
    read = 0
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


def _counted(counts: Counter[str]) -> str:
    total = sum(counts.values())
    named = ", ".join(f"{name!a} {count:,}" for name, count in counts.most_common(MOST_NAMED))
    more = ", ..." if len(counts) > MOST_NAMED else ""
    return f"{total:,} commands" + (f": {named}{more}" if total else "")
