"""Many crash rounds: ``python -m tests.crash [rounds]``, half of them with appendfsync always."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.crash.rounds import CrashTest

ROUNDS_A_FOLDER = 20  # then a new one: an ever longer log makes ever longer starts


def main(rounds: int) -> int:
    """Run them; the exit status."""
    for policy in ("always", "everysec"):
        commands = lost = done = 0
        while done < rounds // 2:
            with tempfile.TemporaryDirectory() as folder:
                test = CrashTest(Path(folder), policy)
                for _ in range(min(ROUNDS_A_FOLDER, rounds // 2 - done)):
                    test.round()
                    done += 1
                    print(
                        f"\rappendfsync {policy}: {done}/{rounds // 2} rounds,"
                        f" {commands + test.commands} commands acknowledged,"
                        f" {lost + test.lost} lost",
                        end="", flush=True,
                    )  # fmt: skip
                commands += test.commands
                lost += test.lost
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
