"""Facts, families and spreads: what INFO writes of them, and what samples have."""

from __future__ import annotations

from typing import NamedTuple

from server.observe.fact import (
    BYTES,
    COUNT,
    MICROSECONDS,
    PERCENT,
    Always,
    Fact,
    Facts,
    Family,
    Kind,
    Sample,
    Section,
    Spread,
    counter,
    flag,
    gauge,
    nothing,
    text,
)


class Tank(NamedTuple):
    """A subject for tests."""

    level: int = 30
    is_open: bool = True


LEVEL: Fact[Tank] = gauge("level", BYTES, lambda tank: tank.level, "How full it is")
TANK = Facts[Tank](
    LEVEL,
    gauge("share", PERCENT, lambda tank: tank.level / 9, "How full it is", "%.2f%%"),
    flag("open", lambda tank: tank.is_open, "Whether it is open", ("no", "yes")),
    flag("closed", lambda tank: not tank.is_open, "Whether it is closed"),
    text("kind", Always("100% steel"), "What it is made of"),
    nothing("leaks", COUNT, "There are none"),
)


def test_a_line_has_the_name_and_the_value_in_its_form() -> None:
    assert TANK.text(Tank()) == (
        "level:30\r\nshare:3.33%\r\nopen:yes\r\nclosed:0\r\nkind:100% steel\r\nleaks:0\r\n"
    )


def test_a_sample_has_the_value_as_it_is() -> None:
    values = {sample.fact.name: sample.value for sample in TANK.samples(Tank(27, False))}
    assert values == {
        "level": 27, "share": 3.0, "open": False, "closed": True, "kind": "100% steel", "leaks": 0,
    }  # fmt: skip


def test_facts_without_a_subject_are_not_there() -> None:
    assert TANK.text(None) == ""
    assert list(TANK.samples(None)) == []


def test_a_subject_that_is_0_is_a_subject() -> None:
    facts = Facts[int](counter("drops", COUNT, lambda drops: drops, "Drops"))
    assert facts.text(0) == "drops:0\r\n"


FAMILY = Family[Tank](
    "tank",
    "tank",
    LEVEL,
    gauge("ratio", PERCENT, lambda tank: tank.level / 9, "A ninth of it", "%.1f"),
)


def test_a_family_has_a_line_for_each_subject() -> None:
    tanks = [("0", Tank(9)), ("a%d", Tank(18))]
    assert FAMILY.text(tanks) == "tank0:level=9,ratio=1.0\r\ntanka%d:level=18,ratio=2.0\r\n"
    assert next(FAMILY.samples(tanks)) == Sample(LEVEL, 9, (("tank", "0"),))


def test_a_fact_without_a_name_is_the_whole_line() -> None:
    family = Family[str]("line", "number", text("", lambda line: line, "The line"))
    assert family.text([("1", "as,it=is")]) == "line1:as,it=is\r\n"


def test_a_spread_has_a_value_for_each_percentile() -> None:
    fact = Fact[float]("p", MICROSECONDS, Kind.GAUGE, lambda us: us, "Time", "%.3f")
    spread = Spread("took_", "command", "percentile", fact)
    subjects = [("get", {"50": 1.5, "99.9": 20.0})]
    assert spread.text(subjects) == "took_get:p50=1.500,p99.9=20.000\r\n"
    assert list(spread.samples(subjects)) == [
        Sample(fact, 1.5, (("command", "get"), ("percentile", "50"))),
        Sample(fact, 20.0, (("command", "get"), ("percentile", "99.9"))),
    ]


def test_a_section_has_a_title_and_the_facts_of_what_is_there() -> None:
    whole = {"one": Tank(1), "other": None}
    section = Section[dict[str, Tank | None]](
        "tanks", "All of them.",
        Facts[Tank](LEVEL).of(lambda tanks: tanks["one"]),
        Facts[Tank](LEVEL).of(lambda tanks: tanks["other"]),
        Family[Tank]("tank_", "tank", LEVEL).of(lambda tanks: [("2", Tank(2))]),
    )  # fmt: skip
    assert section.text(whole) == "# Tanks\r\nlevel:1\r\ntank_2:level=2\r\n"
    assert [sample.value for sample in section.samples(whole)] == [1, 2]
