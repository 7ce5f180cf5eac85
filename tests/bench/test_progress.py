"""The progress lines of the benchmark, with a fake clock."""

from __future__ import annotations

from bench.progress import STILL_S, Progress


def test_each_step_prints_its_name_number_and_time() -> None:
    seconds, lines = [0.0], list[str]()
    progress = Progress(12, lines.append, lambda: seconds[0])
    progress.step("redis: Spark starts")
    seconds[0] = 65.0
    progress.step("redis: tuples, round 1 of 5")
    assert lines == [
        "[ 1 of 12,  0:00] redis: Spark starts",
        "[ 2 of 12,  1:05] redis: tuples, round 1 of 5",
    ]


def test_a_long_step_prints_another_line() -> None:
    seconds, lines = [0.0], list[str]()
    progress = Progress(2, lines.append, lambda: seconds[0])
    progress.still()
    progress.step("archive")
    seconds[0] = STILL_S - 1
    progress.still()
    assert lines == ["[1 of 2,  0:00] archive"]
    seconds[0] = STILL_S + 1
    progress.still()
    assert lines[1:] == ["[1 of 2,  0:16] archive, for 16 s"]
