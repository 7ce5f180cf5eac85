"""The options of ``groupMode=shared``: reading as a consumer of a consumer group.

The group decides which entries a consumer gets. So options that ask for a range of ids, or that
wait for a number of entries, are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import Options
from pyspark_penstock.read.bounds import Bounds, Kind

MODES = PUBLISH, SHARED = "publish", "shared"
ONLY_SHARED = ("consumerPrefix", "claimMinIdleMs")
NEVER_SHARED = ("assign", "minOffsetsPerTrigger", "maxTriggerDelay", "maxBytesPerTrigger")
MAX_OFFSETS = 100_000  # entries that one batch takes away from the other consumers, at most


@dataclass(frozen=True)
class Sharing:
    """How a query takes part in its group. *prefix* begins the names of its consumers."""

    prefix: str
    min_idle_ms: int  # entries that others have had pending for so long are taken over


def sharing_of(options: Options, starting: Bounds) -> Sharing | None:
    """The sharing that the options ask for; None if the group is not shared. Raises OptionError."""
    given = "groupMode" in options
    if given and not options.text("group"):
        raise OptionError("'groupMode' is given without 'group': which consumer group?")
    if not options.text("group"):
        options.refuse(["groupTakeover"], "is given without 'group': which consumer group?")
    if options.choice("groupMode", *MODES) != SHARED:
        options.refuse(ONLY_SHARED, "is for groupMode=shared")
        return None
    options.refuse(["groupTakeover"], "contradicts groupMode=shared: no group is moved then")
    options.refuse(NEVER_SHARED, "contradicts groupMode=shared: the group says what is read")
    if any(bound.kind is Kind.GROUP for bound in (starting.default, *starting.by_stream.values())):
        raise OptionError("'startingOffsets' of a group contradicts groupMode=shared: it has one")
    prefix = options.text("consumerPrefix", "spark")
    if not prefix:
        raise OptionError("'consumerPrefix' is empty: what shall the consumers be called?")
    return Sharing(prefix, options.integer("claimMinIdleMs", 60_000, least=1))
