r"""The text of metrics: Prometheus's own format, and OpenMetrics 1.0.

    # HELP redis_commands_total Times ...    OpenMetrics:    # HELP redis_commands Times ...
    # TYPE redis_commands_total counter                      # TYPE redis_commands counter
    redis_commands_total{cmd="get"} 12                       the same
                                                             # EOF

It is written here, and not by prometheus_client, which takes more than 10 µs for a line, and 100 ms
in which nobody is served to be imported; the tests read each page with its parsers.

Sources: https://prometheus.io/docs/instrumenting/exposition_formats/
https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from enum import Enum

from server.metrics.family import Family, Kind

MOST_OF_NAME = 200  # bytes of a name in a label: defends who stores them against endless names
DIGEST = 8  # hexadecimal digits, behind a name that is not shown as it is

_TOTAL = "_total"
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # Prometheus ends a page at a NUL
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_ESCAPES_OF_HELP = str.maketrans({"\\": r"\\", "\n": r"\n"})


class Form(Enum):
    """The formats, by their content types."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    @property
    def end(self) -> bytes:
        """What a page ends with."""
        return b"# EOF\n" if self is Form.OPEN_METRICS else b""


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


def head(family: Family, form: Form) -> str:
    """The lines before the samples of *family*."""
    name, meaning = family.name, family.meaning
    if form is Form.OPEN_METRICS:
        name = name.removesuffix(_TOTAL) if family.kind is Kind.COUNTER else name
        meaning = meaning.translate(_ESCAPES)
    else:
        meaning = meaning.translate(_ESCAPES_OF_HELP)
    return f"# HELP {name} {meaning}\n# TYPE {name} {family.kind.value}\n"


def labels_text(names: Iterable[str], values: Iterable[str]) -> str:
    """Labels as they stand behind a name: ``{db="db0",stream="orders"}``, or nothing."""
    pairs = [
        f'{name}="{value.translate(_ESCAPES)}"' for name, value in zip(names, values, strict=True)
    ]
    return "{" + ",".join(pairs) + "}" if pairs else ""


def with_label(labels: str, name: str, value: str) -> str:
    """*labels*, a text of labels_text(), with one label more."""
    return f'{labels[:-1]},{name}="{value.translate(_ESCAPES)}"}}'


def number(value: float) -> str:
    """A value as both formats take it."""
    if isinstance(value, int):  # a flag, too
        return str(int(value))
    text = repr(value)
    return {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}.get(text, text)


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
