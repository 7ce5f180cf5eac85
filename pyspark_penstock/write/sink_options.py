"""The options of ``df.write`` and ``df.writeStream``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark_penstock.connect.fleet import Fleet
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import ASYNC_PROGRESS, FLEET, SERVER, WRITING, Options, refusal
from pyspark_penstock.write.replicas import Confirmation

EXACTLY_ONCE, AT_LEAST_ONCE, ORDERED, ATOMIC = DELIVERIES = (
    "exactly-once", "at-least-once", "ordered", "atomic",
)  # fmt: skip
# Rows of a transaction, during which other clients wait; with atomic delivery, rows of a batch.
MOST_ROWS, MOST_ROWS_ATOMIC = 100_000, 1_000_000
TRANSACTIONAL = ("txnAppId", "maxTransactionRows")
CONFIRMED = ("waitReplicas", "waitReplicasTimeout")
LONGEST_WAIT_MS = 30_000  # a server that says nothing for twice as long counts as lost
OMIT, EMPTY = NULL_FIELDS = ("omit", "empty")


@dataclass(frozen=True)
class SinkOptions:
    """The options of a writer. *trim* holds the arguments of XADD that trim the stream."""

    fleet: Fleet
    partition_by: str
    stream: str
    delivery: str
    trim: tuple[str, ...]
    null_fields: str
    txn_app_id: str
    txn_version: int | None
    max_transaction_rows: int
    confirmation: Confirmation
    checkpoint: str = ""  # Spark's own option


def sink_options(given: Mapping[str, str]) -> SinkOptions:
    """The options of a write. Raises OptionError."""
    options = Options(given, "writing", SERVER, FLEET, WRITING, ASYNC_PROGRESS)
    if "txnVersion" in options and "txnAppId" not in options:
        raise OptionError("'txnVersion' is the version of a 'txnAppId': give that too")
    if "txnAppId" in options and not options.text("txnAppId"):
        raise OptionError("'txnAppId' is empty: a write that is repeated would be written again")
    delivery = options.choice("delivery", *DELIVERIES)
    most_rows = MOST_ROWS_ATOMIC if delivery == ATOMIC else MOST_ROWS
    if delivery == AT_LEAST_ONCE:
        options.refuse(TRANSACTIONAL, "contradicts delivery=at-least-once: it has no transactions")
        options.refuse(
            CONFIRMED,
            "contradicts delivery=at-least-once: without a marker, rows that are not confirmed "
            "could only be written again",
        )
    elif options.flag(ASYNC_PROGRESS[0], False):
        raise OptionError(
            "asyncProgressTrackingEnabled=true: after a crash, numbers of batches that were "
            f"written are given to other rows, and delivery={delivery} would leave these out: "
            "give delivery=at-least-once"
        )
    return SinkOptions(
        fleet=(fleet := Fleet.from_options(options)),
        partition_by=partition_by(options, fleet),
        stream=options.text("stream"),
        delivery=delivery,
        trim=trim_words(options),
        null_fields=options.choice("nullFields", *NULL_FIELDS),
        txn_app_id=options.text("txnAppId"),
        txn_version=options.integer("txnVersion", 0) if "txnVersion" in options else None,
        max_transaction_rows=options.integer("maxTransactionRows", most_rows, least=1),
        confirmation=confirmation(options),
        checkpoint=next((v for n, v in given.items() if n.lower() == "checkpointlocation"), ""),
    )


def confirmation(options: Options) -> Confirmation:
    """Who confirms what is written. Raises OptionError."""
    replicas = options.integer("waitReplicas", 0)
    wait_ms = options.duration_ms("waitReplicasTimeout", "5s")
    if not replicas:
        options.refuse(["waitReplicasTimeout"], "is how long 'waitReplicas' waits: give that too")
    if not 1 <= wait_ms <= LONGEST_WAIT_MS:
        raise refusal("waitReplicasTimeout", f"{wait_ms}ms", "from 1ms to 30s")
    return Confirmation(replicas, wait_ms)


def partition_by(options: Options, fleet: Fleet) -> str:
    """The column whose hash says to which server a row goes. Raises OptionError."""
    column = options.text("partitionBy")
    if column and fleet.is_single:
        raise OptionError("'partitionBy' divides rows among several servers: give 'servers'")
    return column


def trim_words(options: Options) -> tuple[str, ...]:
    """The arguments of XADD that trim the stream. Raises OptionError."""
    options.at_most_one("maxLen", "minId")
    if "maxLen" in options:
        strategy, threshold = "MAXLEN", str(options.integer("maxLen", 0))
    elif "minId" in options:
        strategy, threshold = "MINID", options.text("minId")
        try:
            EntryId.parse(threshold)
        except ValueError:
            raise refusal("minId", threshold, "an entry id") from None
    elif "approximate" in options:
        raise OptionError("'approximate' is how 'maxLen' or 'minId' trims: give one of them")
    else:
        return ()
    return strategy, "~" if options.flag("approximate", True) else "=", threshold
