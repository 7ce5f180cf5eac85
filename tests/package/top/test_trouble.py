"""Trouble: points and words, by the table that the console's page has, too."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.top import trouble
from penstock.top.figures import Group, Stream
from penstock.top.history import GroupHistory
from penstock.top.trouble import Level, Trend, Trouble, of_group, of_stream, patience_ms

CASES = json.loads(Path(__file__).with_name("trouble.json").read_text())
NOW_S = 1000.0

numbers = st.none() | st.integers(0, 1 << 62)
groups = st.builds(
    Group, st.just(b"g"), numbers, numbers, numbers, oldest_ms=numbers,
    paused=st.none() | st.booleans(),
)  # fmt: skip
trends = st.builds(Trend, st.booleans(), st.booleans())


def group(fields: dict[str, Any], name: bytes = b"g") -> Group:
    paused = fields.get("paused")
    return Group(
        name=name,
        consumers=fields.get("consumers"),
        pending=fields.get("pending"),
        lag=fields.get("lag"),
        oldest_ms=fields.get("oldest-pending-ms"),
        dead_lettered=fields.get("dead-lettered"),
        paused=None if paused is None else bool(paused),
        policy=tuple(fields.get("policy", ())),
    )


def trouble_of(case: dict[str, Any]) -> Trouble:
    found = []
    for each in case["groups"]:
        history = GroupHistory()
        for age_s, sample in each["samples"]:
            history.look(group(sample), NOW_S - age_s)
        now = group(each["now"])
        found.append(of_group(now, history.look(now, NOW_S), each["now"].get("dead")))
    return of_stream(found)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_case_of_the_table(case: dict[str, Any]) -> None:
    found = trouble_of(case)
    assert found == Trouble(case["points"], tuple(case["words"]))
    assert found.level is Level(case["level"])


def test_every_word_has_a_case() -> None:
    docs = trouble.__doc__ or ""
    words = {word for case in CASES for word in case["words"]}
    assert len(words) == 6
    assert all(f"  {word}" in docs for word in words)


@given(groups, trends, numbers)
def test_what_is_unknown_is_never_trouble(one: Group, trend: Trend, dead: int | None) -> None:
    known = of_group(one, trend, dead)
    for field in ("consumers", "pending", "lag", "oldest_ms", "paused"):
        values = {name: getattr(one, name) for name in Group.__slots__}
        less = of_group(Group(**{**values, field: None}), trend, dead)
        assert less.points <= known.points
        assert set(less.words) <= set(known.words)


@given(groups, trends, numbers)
def test_size_never_counts_more_than_a_word(one: Group, trend: Trend, dead: int | None) -> None:
    found = of_group(one, trend, dead)
    assert (found.points >= 50) == bool(found.words)


@given(st.lists(st.builds(Trouble, st.integers(0, 2000))))
def test_a_stream_has_the_points_of_its_worst_group(some: list[Trouble]) -> None:
    assert of_stream(some).points == max((each.points for each in some), default=0)


def test_patience_without_any_policy_is_a_minute() -> None:
    assert patience_ms(()) == 60_000
    assert patience_ms(("VISIBILITY", "0", "BACKOFF", "5")) == 60_005


def test_a_stream_of_unknown_groups_has_no_trouble() -> None:
    assert Stream(b"s").groups is None
    assert of_stream([]) is trouble.NONE


# ---------------------------------------------------------------------- the console's page

STATIC = Path(__file__).parents[3] / "server" / "console" / "static"
RUN = """
import { readFileSync } from "node:fs";
import { Samples, levelOf, troubleOfGroup } from "./trouble.js";

const NOW = 1_000_000;
const found = JSON.parse(readFileSync(0, "utf8")).map(({ groups }) => {
  const all = groups.map(({ samples, now }) => {
    const watched = new Samples();
    for (const [ageS, sample] of samples) watched.look(sample, NOW - ageS * 1000);
    return troubleOfGroup(now, watched.look(now, NOW), now.dead ?? null);
  });
  const none = { points: 0, reasons: [] };
  const worst = all.reduce((one, each) => (each.points > one.points ? each : one), none);
  return { points: worst.points, words: worst.reasons, level: levelOf(worst.points) };
});
console.log(JSON.stringify(found));
"""


@pytest.mark.skipif(
    shutil.which("node") is None, reason="there is no node to run the page's script"
)
def test_the_page_of_the_console_computes_the_same(tmp_path: Path) -> None:
    for script in STATIC.glob("*.js"):
        shutil.copy(script, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text(RUN)
    ran = subprocess.run(
        ["node", "run.js"], cwd=tmp_path, input=json.dumps(CASES), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ran.stderr == ""
    for case, found in zip(CASES, json.loads(ran.stdout), strict=True):
        assert (found["points"], found["words"]) == (case["points"], case["words"]), case["name"]
        loud = {"calm": {0, 1}, "warn": {2}, "bad": {3, 4}}[case["level"]]
        assert found["level"] in loud, case["name"]
