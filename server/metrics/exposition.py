"""The text of metrics: Prometheus's own format, and OpenMetrics 1.0, by prometheus_client.

    # HELP redis_commands_total Times ...    OpenMetrics:    # HELP redis_commands Times ...
    # TYPE redis_commands_total counter                      # TYPE redis_commands counter
    redis_commands_total{cmd="get"} 12.0                     the same
                                                             # EOF

It writes whole families; here a family comes in parts, so that others are served in between, and
what stands before a value is written once.

Sources: https://prometheus.io/docs/instrumenting/exposition_formats/
https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from prometheus_client import exposition as text
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as open_metrics
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample
from prometheus_client.utils import floatToGoString

from server.metrics.family import Family, Kind

MOST_OF_NAME = 200  # bytes of a name in a label: defends who stores them against endless names
MOST_KEPT = 1000  # parts of a page whose lines are kept: defends the server's memory
DIGEST = 8  # hexadecimal digits, after a name that is not shown as it is

# Prometheus ends a page at a NUL. Who has U+FFFD in his name might look like one that is shown so.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ufffd]")
_number: Callable[[float], str] = floatToGoString
_BETWEEN = "\0"  # the values of labels: no value has one, see label_of()
_EOF = b"# EOF\n"


class Form(Enum):
    """The formats, by their content types."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    @property
    def end(self) -> bytes:
        """What a page ends with."""
        return _EOF if self is Form.OPEN_METRICS else b""


def wanted(accept: str) -> Form:
    """The format for a client that accepts these, of an Accept header. Weights are ignored:

    who names OpenMetrics can read it, and all who ask can read the other.
    """
    for each in accept.lower().split(","):
        kind, *parameters = (word.strip() for word in each.split(";"))
        versions = [word for word in parameters if word.startswith("version=")]
        is_known = not versions or versions[0] in {"version=1.0.0", "version=0.0.1"}
        if kind == "application/openmetrics-text" and is_known and "q=0" not in parameters:
            return Form.OPEN_METRICS
    return Form.TEXT


class Part(Collector):
    """Some samples of a family, as prometheus_client collects them."""

    def __init__(self, family: Family, samples: list[Sample]) -> None:
        name = family.name
        if family.kind is Kind.COUNTER:
            name = name.removesuffix("_total")  # which it adds where the format wants it
        self._metric = Metric(name, family.meaning, family.kind.value)
        self._metric.samples = samples

    def collect(self) -> Iterator[Metric]:
        yield self._metric


class Lines(NamedTuple):
    """Samples as they were written, and what stands before the value of each, by its labels."""

    labels: Sequence[str]
    values: Sequence[float | None]
    starts: dict[str, str]
    text: bytes


class Writer:
    """Writes samples in *form*.

    What stands before a value is the same in each page, and is most of the work. So it is kept
    from one page to the next: that of two pages, which metrics-max-series limits. Most values are
    the same, too: the lines of MOST_KEPT parts of a page are kept as they are.
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        self._heads: dict[str, bytes] = {}  # by name of the family
        # By name of the sample and labels_text(): of the page before, and of this one.
        self._before: dict[str, dict[str, str]] = {}
        self._now: dict[str, dict[str, str]] = {}
        # By name of the sample and the first labels_text(), of both pages.
        self._kept_before: dict[tuple[str, str], Lines] = {}
        self._kept: dict[tuple[str, str], Lines] = {}

    def begin_page(self) -> None:
        """Forget what the page before had not."""
        self._before, self._now = self._now, {}
        self._kept_before, self._kept = self._kept, {}

    def head(self, family: Family) -> bytes:
        """The lines before the first sample of a family: they say what it is."""
        found = self._heads.get(family.name)
        if found is None:
            found = self._heads[family.name] = self._whole(Part(family, []))
        return found

    def lines(
        self, family: Family, name: str, labels: Sequence[str], values: Sequence[float | None]
    ) -> bytes:
        """Samples of that *name*, each with its labels_text(); none for a value of None."""
        if not labels:
            return b""
        place = (name, labels[0])
        kept = self._kept_before.get(place)
        now = self._now.setdefault(name, {})
        if kept is not None and kept.labels == labels and kept.values == values:
            now.update(kept.starts)
        else:
            kept = Lines(labels, values, *self._written(family, name, labels, values))
        if len(self._kept) < MOST_KEPT:
            self._kept[place] = kept
        return kept.text

    def _written(
        self, family: Family, name: str, labels: Sequence[str], values: Sequence[float | None]
    ) -> tuple[dict[str, str], bytes]:
        """What stands before the values, and the lines."""
        now = self._now[name]
        before = self._before.get(name, now)
        for of_row, start in self._new(family, name, labels, values, before):
            now[of_row] = start
        starts, lines = {}, []
        for of_row, value in zip(labels, values, strict=True):
            if value is not None:
                start = now.get(of_row) or before[of_row]
                starts[of_row] = now[of_row] = start
                lines.append(f"{start}{_number(value)}\n")
        return starts, "".join(lines).encode()

    def _new(
        self,
        family: Family,
        name: str,
        labels: Sequence[str],
        values: Sequence[float | None],
        before: dict[str, str],
    ) -> Iterator[tuple[str, str]]:
        """The labels that neither page has had, and what stands before their values."""
        now = self._now[name]
        new = [
            of_row
            for of_row, value in zip(labels, values, strict=True)
            if value is not None and of_row not in now and of_row not in before
        ]
        if new:
            samples = [Sample(name, labels_of(family.labels, of_row), 0) for of_row in new]
            whole = self._whole(Part(family, samples)).removeprefix(self.head(family))
            starts = whole.decode().split(" 0.0\n")  # a line break in a label is written as \n
            yield from zip(new, (f"{start} " for start in starts[:-1]), strict=True)

    def _whole(self, part: Part) -> bytes:
        if self.form is Form.TEXT:
            return text.generate_latest(part)
        whole: bytes = open_metrics.generate_latest(part)  # type: ignore[no-untyped-call]
        return whole.removesuffix(_EOF)


def labels_text(values: Sequence[str]) -> str:
    """The values of a row's labels, as one text: see Readings."""
    return _BETWEEN.join(values)


def labels_of(names: Sequence[str], values: str) -> dict[str, str]:
    """The labels whose values labels_text() has made a text of."""
    return dict(zip(names, values.split(_BETWEEN), strict=True)) if names else {}


def label_of(name: bytes) -> str:
    """A key, or another name that clients choose, as the value of a label.

    One that is no text, has control characters, or is endless, is shown in part, and a digest of
    all of it tells it from others.
    """
    try:
        text = name.decode()
    except UnicodeDecodeError:
        text = ""
    else:
        if len(name) <= MOST_OF_NAME and not _CONTROL.search(text):
            return text
    shown = name[:MOST_OF_NAME].decode("utf-8", "replace")
    digest = hashlib.sha256(name).hexdigest()[:DIGEST]
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", shown) + "#" + digest
