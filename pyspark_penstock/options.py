"""Options as Spark passes them, name to text, where case does not matter: parsed and checked.

All names are listed here, by purpose. An unknown name, or one that belongs elsewhere (a writer's
option on a reader), is refused, with a hint at the option that was probably meant. Options of
Kafka's clients are ignored with a warning, so that a source that was Kafka's can be tried as it is.
"""

from __future__ import annotations

import difflib
import json
import logging
import re
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from pyspark_penstock.errors import OptionError

logger = logging.getLogger(__name__)

SERVER = (
    "bootstrap.servers", "host", "port", "username", "passwordEnv", "credentialsFile", "db",
    "tls", "tls.caFile", "tls.certFile", "tls.keyFile", "tls.verify",
    "retryTimeout", "sentinels", "masterName", "readFrom",
)  # fmt: skip
FLEET = ("servers",)
READING = (
    "failOnUnreachable", "subscribe", "subscribePattern", "patternType", "discoveryInterval",
    "assign", "badRows",
    "startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy", "minPartitions", "maxRecordsPerPartition",
    "failOnDataLoss", "fetchSize", "maxEntriesPerSecond",
    "endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp",
    "includeMetadata", "valueFormat", "fieldsFormat", "mode", "columnNameOfCorruptRecord",
    "inferSchema",
)  # fmt: skip
BATCH_READING = (
    "pushDownFilters", "view",
)  # fmt: skip
STREAM_READING = (
    "maxOffsetsPerTrigger", "maxBytesPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay",
    "group", "groupMode", "groupTakeover", "consumerPrefix", "claimMinIdleMs",
)  # fmt: skip
WRITING = (
    "stream", "partitionBy", "delivery", "maxLen", "minId", "approximate", "nullFields", "txnAppId",
    "txnVersion", "maxTransactionRows", "waitReplicas", "waitReplicasTimeout",
)  # fmt: skip
# Spark's, on a writer: its offsets are logged later than batches run.
ASYNC_PROGRESS = (
    "asyncProgressTrackingEnabled", "asyncProgressTrackingCheckpointIntervalMs",
    "_asyncProgressTrackingOverrideSinkSupportCheck",
)  # fmt: skip
IGNORED = frozenset({"path", "checkpointlocation", "queryname"})  # Spark's own
OF_KAFKA = ("kafka.", "kafkaconsumer.", "fetchoffset.")  # as Kafka's source does, too

DURATION = re.compile(r"(\d{1,15})\s*(ms|s|m|h|d)?", re.ASCII)  # more digits are no time
UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


class Options:
    """The options of one reader or writer.

    *known* lists the names it takes; *purpose* is for errors.
    """

    def __init__(self, given: Mapping[str, str], purpose: str, *known: Iterable[str]) -> None:
        self._given = {
            name.lower(): value for name, value in given.items() if name.lower() not in IGNORED
        }
        for name in [name for name in self._given if name.startswith(OF_KAFKA)]:
            del self._given[name]
            logger.warning("%r is for Kafka, and is ignored; see docs/from-kafka-source.md", name)
        names = [name for group in known for name in group]
        self._refuse_unknown({name.lower(): name for name in names}, purpose)

    def _refuse_unknown(self, names: dict[str, str], purpose: str) -> None:
        for name in self._given:
            if name not in names:
                raise OptionError(f"{name!r} is no option for {purpose}{nearest(name, names)}")

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._given

    def text(self, name: str, default: str = "") -> str:
        """The option as text."""
        return self._given.get(name.lower(), default)

    def integer(self, name: str, default: int, least: int = 0, most: float = inf) -> int:
        """The option as a whole number from *least* to *most*. Raises OptionError."""
        text = self._given.get(name.lower())
        if text is None:
            return default
        try:
            number = int(text.replace("_", ""))
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            wanted = f"of at least {least}" if most == inf else f"from {least} to {most}"
            raise refusal(name, text, f"a whole number {wanted}")
        return number

    def flag(self, name: str, default: bool) -> bool:
        """The option as true or false. Raises OptionError."""
        text = self._given.get(name.lower())
        if text is None:
            return default
        if text.lower() in TRUE | FALSE:
            return text.lower() in TRUE
        raise refusal(name, text, "true or false")

    def choice(self, name: str, *choices: str) -> str:
        """The option as one of *choices*; the first is the default. Raises OptionError."""
        text = self.text(name, choices[0])
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise refusal(name, text, " or ".join(choices))

    def duration_ms(self, name: str, default: str) -> int:
        """The option as milliseconds: ``90s``, ``15m``, or a bare number. Raises OptionError."""
        text = self.text(name, default)
        ms = milliseconds(text)
        if ms is None:
            raise refusal(name, text, "a time such as 500ms, 30s, 15m, 24h, 7d")
        return ms

    def json_object(self, name: str) -> dict[str, Any]:
        """The option as a JSON object. Raises OptionError."""
        text = self.text(name)
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise refusal(name, text, "a JSON object by stream names")
        return value

    def at_most_one(self, *names: str) -> None:
        """Raises OptionError if two of *names* are given: they say the same in different ways."""
        given = [name for name in names if name in self]
        if len(given) > 1:
            raise OptionError(f"{given[0]!r} and {given[1]!r} contradict each other: give one")

    def refuse(self, names: Iterable[str], why: str) -> None:
        """Raises OptionError, with the reason *why*, if one of *names* is given."""
        for name in names:
            if name in self:
                raise OptionError(f"{name!r} {why}")


def milliseconds(text: str) -> int | None:
    """Parse ``90s``, ``15m`` or a bare number of milliseconds; None if *text* is not a duration."""
    found = DURATION.fullmatch(text.strip())
    return int(found[1]) * UNIT_MS[found[2] or "ms"] if found else None


def refusal(name: str, value: str, wanted: str) -> OptionError:
    """The error for a value that the option cannot have."""
    return OptionError(f"{name}={value!r}: must be {wanted}")


def nearest(name: str, names: Mapping[str, str]) -> str:
    """A hint at the option that was probably meant; empty if there is none."""
    everything = (*SERVER, *FLEET, *READING, *BATCH_READING, *STREAM_READING, *WRITING)
    for other in everything:
        if other.lower() == name:
            return f" (it is one for {purpose_of(other)})"
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def purpose_of(name: str) -> str:
    """What an option is for: reading, writing, and so on."""
    if name in WRITING:
        return "writing"
    return {name in BATCH_READING: "batch reading", name in STREAM_READING: "stream reading"}.get(
        True, "reading"
    )
