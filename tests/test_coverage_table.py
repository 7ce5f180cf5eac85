"""tests/coverage_table.py: lines are summed up by room, and modules that lack tests are named."""

from __future__ import annotations

from tests.coverage_table import Lines, modules, report, rooms


def file(run: int, of: int) -> dict[str, dict[str, int]]:
    return {"summary": {"covered_lines": run, "num_statements": of}}


REPORT = {
    "files": {
        "storage/__init__.py": file(0, 0),
        "storage/glob.py": file(9, 10),
        "server/parts/pubsub/pubsub.py": file(10, 10),
        "server/parts/access/access.py": file(5, 30),
    }
}


def test_a_room_is_a_folder_of_the_first_two_levels() -> None:
    lines = modules(REPORT)
    assert rooms(lines) == {"server/parts": Lines(15, 40), "storage": Lines(9, 10)}


def test_only_modules_below_90_percent_are_named_as_lacking() -> None:
    text = list(report(modules(REPORT)))
    begin, end = (
        next(i for i, line in enumerate(text) if word in line) for word in ("below", "All")
    )
    assert [line.split()[-1] for line in text[begin + 1 : end]] == ["server/parts/access/access.py"]
    assert "  60.0 %" not in text
    assert text[2].split() == ["48.0", "%", "24", "of", "50", "all"]
