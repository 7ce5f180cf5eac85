"""Facts: what is known of the server, typed. INFO, docs/info.md and metrics read them.

    Section   stats                            a section of INFO: its entries, in order
      Entry   where in the server the subject of these facts is
      Facts   keyspace_hits, keyspace_misses   of one subject: shown together, or not at all
        Fact  keyspace_hits                    name, unit, kind, how its value is read, meaning
      Family  cmdstat_get, cmdstat_set, ...    facts of each of many subjects, which a label names
      Spread  latency_percentiles_usec_get     one fact, at several percentiles of each subject

A room declares the facts of its subjects in its facts.py; server/parts/server_facts.py has all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

Value: TypeAlias = int | float | str
S = TypeVar("S")  # the subject of a fact
V = TypeVar("V", bound=Value)
W = TypeVar("W")  # the whole in which subjects are found: the state of the server


class Unit(Enum):
    """What a value is measured in; the values of these are the words of docs/info.md."""

    BYTES = "bytes"
    COUNT = "number"
    SECONDS = "seconds"
    MILLISECONDS = "ms"
    MICROSECONDS = "µs"
    UNIX_SECONDS = "unix time in seconds"
    UNIX_MICROSECONDS = "unix time in µs"
    PER_SECOND = "per second"
    KIB_PER_SECOND = "KiB per second"
    PERCENT = "percent"
    RATIO = "ratio"
    FLAG = "flag"
    TEXT = "text"


BYTES, COUNT, SECONDS, MILLISECONDS, MICROSECONDS = (
    Unit.BYTES, Unit.COUNT, Unit.SECONDS, Unit.MILLISECONDS, Unit.MICROSECONDS,
)  # fmt: skip
UNIX_SECONDS, UNIX_MICROSECONDS = Unit.UNIX_SECONDS, Unit.UNIX_MICROSECONDS
PER_SECOND, KIB_PER_SECOND, PERCENT, RATIO, FLAG, TEXT = (
    Unit.PER_SECOND, Unit.KIB_PER_SECOND, Unit.PERCENT, Unit.RATIO, Unit.FLAG, Unit.TEXT,
)  # fmt: skip

TYPES: dict[Unit, tuple[type, ...]] = {
    **dict.fromkeys(Unit, (int, float)),
    **dict.fromkeys((BYTES, COUNT, UNIX_SECONDS, UNIX_MICROSECONDS), (int,)),
    FLAG: (bool,),
    TEXT: (str,),
}


class Kind(Enum):
    """How a value moves."""

    COUNTER = "counter"  # grows only: since the start, or since CONFIG RESETSTAT
    GAUGE = "gauge"  # as it is now
    TEXT = "text"  # for people, or a name: no number


class Always(Generic[V]):
    """Reads the same value from every subject."""

    __slots__ = ("_value",)

    def __init__(self, value: V) -> None:
        self._value = value

    def __call__(self, _subject: object) -> V:
        return self._value


class Fact(NamedTuple, Generic[S]):
    """One fact. *form* and *words* (of a flag: no, yes) are how INFO writes its value."""

    name: str
    unit: Unit
    kind: Kind
    read: Callable[[S], Value]
    meaning: str
    form: str = "%s"
    words: tuple[str, str] | None = None

    @property
    def written(self) -> Callable[[S], Value]:
        """Reads the value as INFO's *form* takes it."""
        read, words = self.read, self.words
        return read if words is None else lambda subject: words[bool(read(subject))]

    @property
    def template(self) -> str:
        """What INFO writes for the value: *form*, or the value itself if it is always the same."""
        if isinstance(self.read, Always):
            return (self.form % self.written(None)).replace("%", "%%")  # type: ignore[arg-type]
        return self.form


def counter(
    name: str, unit: Unit, read: Callable[[S], float], meaning: str, form: str = "%s"
) -> Fact[S]:
    """A number that grows only."""
    return Fact(name, unit, Kind.COUNTER, read, meaning, form)


def gauge(
    name: str, unit: Unit, read: Callable[[S], float], meaning: str, form: str = "%s"
) -> Fact[S]:
    """A number that moves in both directions, or is set."""
    return Fact(name, unit, Kind.GAUGE, read, meaning, form)


def flag(
    name: str, read: Callable[[S], bool], meaning: str, words: tuple[str, str] = ("0", "1")
) -> Fact[S]:
    """Whether something holds."""
    return Fact(name, FLAG, Kind.GAUGE, read, meaning, words=words)


def text(name: str, read: Callable[[S], str], meaning: str) -> Fact[S]:
    """A name, or a figure as people read it."""
    return Fact(name, TEXT, Kind.TEXT, read, meaning)


def nothing(name: str, unit: Unit, meaning: str) -> Fact[Any]:
    """A figure that Redis has, of what is not here: it is always 0."""
    if unit is FLAG:
        return flag(name, Always(False), meaning)
    return gauge(name, unit, Always(0), meaning)


class Sample(NamedTuple):
    """The value of a fact now. *labels* say of which of many subjects: pairs of name and value."""

    fact: Fact[Any]
    value: Value
    labels: tuple[tuple[str, str], ...] = ()


class Facts(Generic[S]):
    """Facts of one subject. *when* says when they are shown, if that is not always."""

    def __init__(self, *facts: Fact[S], when: str = "") -> None:
        self.facts = facts
        self.when = when
        self._template = "".join(f"{fact.name}:{fact.template}\r\n" for fact in facts)
        self._readers = [fact.written for fact in facts if not isinstance(fact.read, Always)]

    def of(self, find: Callable[[W], S | None]) -> Entry[W]:
        """These facts of what *find* finds; there are none while it finds None."""
        return Entry(self, find)

    def text(self, subject: S | None) -> str:
        """The lines of INFO."""
        if subject is None:
            return ""
        return self._template % tuple([read(subject) for read in self._readers])

    def samples(self, subject: S | None) -> Iterator[Sample]:
        """The facts with their values."""
        if subject is not None:
            for fact in self.facts:
                yield Sample(fact, fact.read(subject))


class Family(Generic[S]):
    """Facts of each of many subjects: a line of INFO each, which begins with *prefix* and a label.

    *label* is what the labels are. A fact without a name is all that the line says. *rare* facts
    are there only if their first is not 0.
    """

    def __init__(
        self, prefix: str, label: str, *facts: Fact[S], rare: tuple[Fact[S], ...] = (),
        when: str = "",
    ) -> None:  # fmt: skip
        self.prefix = prefix
        self.label = label
        self.facts = facts + rare
        self.when = when
        self._often = facts
        self._rare = rare
        self._line = _Line(prefix, facts)
        self._long_line = _Line(prefix, facts + rare)

    def of(self, find: Callable[[W], Iterable[tuple[str, S]]]) -> Entry[W]:
        """These facts of all that *find* finds, each with its label."""
        return Entry(self, find)

    def text(self, subjects: Iterable[tuple[str, S]]) -> str:
        """The lines of INFO."""
        return "".join([
            (self._long_line if self._has_rare(subject) else self._line).text(label, subject)
            for label, subject in subjects
        ])  # fmt: skip

    def samples(self, subjects: Iterable[tuple[str, S]]) -> Iterator[Sample]:
        """The facts with their values, each with its label."""
        for label, subject in subjects:
            for fact in self.facts if self._has_rare(subject) else self._often:
                yield Sample(fact, fact.read(subject), ((self.label, label),))

    def _has_rare(self, subject: S) -> bool:
        return bool(self._rare) and bool(self._rare[0].read(subject))


class _Line(Generic[S]):
    """A line of INFO about one of many subjects."""

    def __init__(self, prefix: str, facts: tuple[Fact[S], ...]) -> None:
        values = ",".join(f"{fact.name}={fact.form}" if fact.name else fact.form for fact in facts)
        self._template = f"{prefix}%s:{values}\r\n"
        self._readers = [fact.written for fact in facts]

    def text(self, label: str, subject: S) -> str:
        return self._template % (label, *[read(subject) for read in self._readers])


class Spread:
    """One fact of many subjects at several points: ``<prefix><label>:p50=...,p99=...``.

    *by* is what the points are; the fact's name is written before each.
    """

    def __init__(self, prefix: str, label: str, by: str, fact: Fact[float], when: str = "") -> None:
        self.prefix = prefix
        self.label = label
        self.facts = (fact,)
        self.by = by
        self.when = when

    def of(self, find: Callable[[W], Iterable[tuple[str, dict[str, float]]]]) -> Entry[W]:
        """The fact of all that *find* finds: a label, and points with their values."""
        return Entry(self, find)

    def text(self, subjects: Iterable[tuple[str, dict[str, float]]]) -> str:
        """The lines of INFO."""
        name, form = self.facts[0].name, self.facts[0].form
        return "".join([
            f"{self.prefix}{label}:"
            + ",".join([f"{name}{point}={form % value}" for point, value in spread.items()])
            + "\r\n"
            for label, spread in subjects
        ])  # fmt: skip

    def samples(self, subjects: Iterable[tuple[str, dict[str, float]]]) -> Iterator[Sample]:
        """The fact with its values, labelled with the subject and the point."""
        for label, spread in subjects:
            for point, value in spread.items():
                labels = (self.label, label), (self.by, point)
                yield Sample(self.facts[0], value, labels)


class Entry(NamedTuple, Generic[W]):
    """Facts, and how what they are about is found in the whole."""

    facts: Facts[Any] | Family[Any] | Spread
    find: Callable[[W], Any]


class Section(Generic[W]):
    """A section of INFO. One that is not *is_default* is shown only to who asks for it."""

    def __init__(
        self, name: str, meaning: str, *entries: Entry[W], title: str = "", is_default: bool = True
    ) -> None:
        self.name = name
        self.title = title or name.capitalize()
        self.meaning = meaning
        self.entries = entries
        self.is_default = is_default

    def text(self, whole: W) -> str:
        """What INFO says."""
        lines = [entry.facts.text(entry.find(whole)) for entry in self.entries]
        return f"# {self.title}\r\n{''.join(lines)}"

    def samples(self, whole: W) -> Iterator[Sample]:
        """All facts of the section that hold now, with their values."""
        for entry in self.entries:
            yield from entry.facts.samples(entry.find(whole))
