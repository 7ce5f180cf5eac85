"""Options: their values, and the errors for wrong ones."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import StructType

from pyspark_penstock.connect.address import Server, Tls
from pyspark_penstock.connect.credentials import Login
from pyspark_penstock.entry_id import LARGEST_PART, EntryId
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import Options
from pyspark_penstock.read.bounds import EARLIEST, LATEST, Bound, Kind
from pyspark_penstock.read.source_options import (
    batch_options,
    schema_options,
    stream_options,
)
from pyspark_penstock.read.subscription import Subscription
from pyspark_penstock.schema import fields_type, raw_schema
from pyspark_penstock.source import PenstockDataSource
from pyspark_penstock.write.sink_options import sink_options
from pyspark_penstock.write.writer import PenstockStreamWriter


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SERVERS", "USERNAME", "PASSWORD", "CREDENTIALS_FILE"):
        monkeypatch.delenv(f"PENSTOCK_{name}", raising=False)


Read = Callable[..., Any]
NUMBERS = StructType().add("n", "long")
RAW = raw_schema(fields_type("binary", "map"))


@pytest.mark.parametrize(
    ("read", "given", "message"),
    [
        (batch_options, {"subscrbe": "s"}, "'subscrbe' is no option for batch reading; did you "
                                           "mean 'subscribe'?"),
        (batch_options, {"subscribe": "s", "max_len": "1"}, "'max_len' is no option"),
        (batch_options, {"subscribe": "s", "group": "g"}, "(it is one for stream reading)"),
        (stream_options, {"subscribe": "s", "endingOffsets": "earliest"}, "must be an id or"),
        (sink_options, {"subscribe": "s"}, "'subscribe' is no option for writing (it is one for "
                                           "reading)"),
        (batch_options, {}, "which streams"),
        (batch_options, {"subscribe": "a,,b"}, "'a,,b': must be names of streams: one is empty"),
        (batch_options, {"subscribePattern": ""}, "subscribePattern='': must be a glob"),
        (batch_options, {"assign": "{}"}, "assign='{}': must be ranges of at least one stream"),
        (stream_options, {"assign": "{}"}, "ranges of at least one stream"),
        (batch_options, {"subscribe": "s", "assign": "{}"}, "'subscribe' and 'assign' contradict"),
        (batch_options, {"assign": "[]"}, "assign='[]': must be a JSON object"),
        (batch_options, {"assign": '{"s": "1-0"}'}, "ranges by stream"),
        (stream_options, {"assign": '{"s": ["1-0", "group:g"]}'}, "must be an id or a time"),
        (stream_options, {"subscribe": "s", "patternType": "regex"}, "for 'subscribePattern'"),
        (stream_options, {"subscribePattern": "(", "patternType": "regex"}, "a regular expression"),
        (stream_options, {"subscribe": "s", "badRows": "stream:"}, "stream:NAME, column, drop or"),
        (stream_options, {"subscribe": "r,s", "badRows": "stream:s"}, "does not read"),
        (batch_options, {"subscribePattern": "s*", "badRows": "stream:s:bad"}, "does not read"),
        (stream_options, {"subscribePattern": "s.*", "patternType": "regex",
                          "badRows": "stream:s:bad"}, "does not read"),
        (stream_options, {"subscribe": "s", "retryTimeout": "9" * 400 + "d"}, "must be a time"),
        (stream_options, {"subscribe": "s", "retryTimeout": "9" * 5000}, "must be a time"),
        (stream_options, {"subscribe": "s", "badRows": "drop", "mode": "FAILFAST"}, "contradict"),
        (batch_options, {"subscribe": "s", "servers": "a:1", "host": "b"}, "contradict"),
        (batch_options, {"view": "groups", "servers": "a:1,b:1"}, "a view is of one server"),
        (stream_options, {"subscribe": "s", "group": "g", "groupMode": "shared",
                          "servers": "a:1"}, "a group is of one server"),
        (stream_options, {"subscribe": "s", "group": "g", "groupMode": "shared",
                          "badRows": "stream:x"}, "the group says what is read"),
        (batch_options, {"subscribe": "s", "fetchSize": "many"}, "fetchSize='many': must be"),
        (batch_options, {"subscribe": "s", "minPartitions": "0"}, "at least 1"),
        (batch_options, {"subscribe": "s", "failOnDataLoss": "maybe"}, "must be true or false"),
        (batch_options, {"subscribe": "s", "mode": "STRICT"}, "PERMISSIVE or FAILFAST or"),
        (batch_options, {"subscribe": "s", "view": "tables"}, "entries or streams or groups"),
        (batch_options, {"subscribe": "s", "startingOffsets": "first"}, "earliest, latest, an id"),
        (batch_options, {"subscribe": "s", "startingOffsets": '{"t": "1-0"}'},
         "startingOffsets='s, t': must be for just the streams ['s']"),
        (stream_options, {"subscribe": "s", "startingOffsetsByTimestamp": '{"s": 1, "t": 5}'},
         "startingOffsetsByTimestamp='t': must be for just the streams ['s']"),
        (batch_options, {"subscribe": "s", "endingOffsets": '{"s": "5-0", "t": "1-0"}'},
         "endingOffsets='t': must be for streams of ['s']"),
        (batch_options, {"subscribe": "s", "endingOffsetsByTimestamp": '{"t": 5}'},
         "endingOffsetsByTimestamp='t': must be for streams of ['s']"),
        (batch_options, {"subscribe": "s", "startingOffsetsByTimestampStrategy": "latest"},
         "'startingOffsetsByTimestampStrategy' is for a time to start at"),
        (batch_options, {"view": "groups", "startingOffsets": "5-0"},
         "'startingOffsets' is about entries, and contradicts view=groups"),
        (batch_options, {"view": "streams", "endingTimestamp": "5"}, "'endingTimestamp' is about"),
        (batch_options, {"view": "streams", "mode": "FAILFAST"}, "'mode' is about entries"),
        (batch_options, {"view": "groups", "pushDownFilters": "true"}, "'pushDownFilters' is ab"),
        (batch_options, {"view": "groups", "minPartitions": "2"}, "'minPartitions' is about"),
        (batch_options, {"view": "groups", "maxRecordsPerPartition": "2"}, "'maxRecordsPerPart"),
        (batch_options, {"view": "groups", "fetchSize": "2"}, "'fetchSize' is about entries"),
        (batch_options, {"view": "groups", "maxEntriesPerSecond": "2"}, "'maxEntriesPerSecond' is"),
        (batch_options, {"view": "groups", "failOnDataLoss": "false"}, "'failOnDataLoss' is about"),
        (schema_options, {"view": "pending", "inferSchema": "true"}, "'inferSchema' is about"),
        (batch_options, {"subscribe": "s", "startingOffsets": "1-1", "startingTimestamp": "5"},
         "'startingOffsets' and 'startingTimestamp' contradict"),
        (batch_options, {"subscribe": "s", "endingOffsetsByTimestamp": '{"s": "x"}'}, "must be ms"),
        (stream_options, {"subscribe": "s", "maxTriggerDelay": "soon"}, "a time such as"),
        (stream_options, {"subscribe": "s", "maxOffsetsPerTrigger": "0"}, "at least 1"),
        (stream_options, {"subscribe": "s", "maxTriggerDelay": "5s"},
         "'maxTriggerDelay' is how long 'minOffsetsPerTrigger' waits"),
        (stream_options,
         {"subscribe": "s", "minOffsetsPerTrigger": "10", "maxOffsetsPerTrigger": "9"},
         "minOffsetsPerTrigger=10 is above maxOffsetsPerTrigger=9"),
        (stream_options, {"subscribe": "s", "minOffsetsPerTrigger": "2_000_000"},
         "minOffsetsPerTrigger=2000000 is above maxOffsetsPerTrigger=1000000: give a larger max"),
        (stream_options, {"subscribe": "s", "group": ""}, "group='': must be the name of"),
        (stream_options, {"subscribe": "s", "groupTakeover": "true"},
         "'groupTakeover' is given without 'group'"),
        (stream_options,
         {"subscribe": "s", "group": "g", "groupMode": "shared", "groupTakeover": "true"},
         "'groupTakeover' contradicts groupMode=shared"),
        (sink_options, {"maxLen": "5", "minId": "1-0"}, "'maxLen' and 'minId' contradict"),
        (sink_options, {"minId": "yesterday"}, "must be an entry id"),
        (sink_options, {"approximate": "true"}, "give one of them"),
        (sink_options, {"delivery": "exactly_once"}, "exactly-once or at-least-once"),
        (sink_options, {"txnVersion": "1"}, "give that too"),
        (sink_options, {"txnAppId": "", "txnVersion": "1"}, "'txnAppId' is empty"),
        (sink_options, {"bootstrap.servers": "redis://h:6379"}, "'bootstrap.servers' is a URL"),
        (sink_options, {"txnAppId": "a", "delivery": "at-least-once"}, "contradicts"),
        (sink_options, {"maxTransactionRows": "9", "delivery": "at-least-once"},
         "'maxTransactionRows' contradicts delivery=at-least-once: it has no transactions"),
        (sink_options, {"host": "h", "bootstrap.servers": "h:1"}, "contradict each other"),
        (sink_options, {"bootstrap.servers": "h:port"}, "host:port"),
        (sink_options, {"host": ""}, "host='': must be a host's name or address"),
        (sink_options, {"host": "a b"}, "host='a b': must be"),
        (sink_options, {"host": "h\r\nx"}, r"host='h\r\nx': must be"),
        (sink_options, {"bootstrap.servers": "g:1,h\r\nx:2"}, r"bootstrap.servers='h\r\nx:2'"),
        (sink_options, {"bootstrap.servers": "\x1bh"}, r"bootstrap.servers='\x1bh': must be"),
        (sink_options, {"bootstrap.servers": "h:1,h:99999"}, "a port from 1 to 65535"),
        (sink_options, {"port": "99999"}, "port='99999': must be a whole number from 1 to 65535"),
        (sink_options, {"passwordEnv": "PW", "credentialsFile": "f"},
         "'passwordEnv' and 'credentialsFile' contradict each other"),
        (sink_options, {"tls": "false", "tls.caFile": "ca.pem"}, "'tls' is false"),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_options_are_refused_by_name(read: Read, given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        read(given)
    if message.endswith("must be ms"):
        message = "must be milliseconds"
    assert message in str(refused.value)


@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "stream"])
@pytest.mark.parametrize(
    ("given", "schema", "message"),
    [
        ({"columnNameOfCorruptRecord": "bad"}, StructType().add("Bad", "string"), "no such column"),
        ({"columnNameOfCorruptRecord": "bad"}, RAW, "no such column"),
        ({"valueFormat": "string"}, NUMBERS, "'valueFormat' is for reading without a schema"),
        ({"fieldsFormat": "array"}, RAW, "'fieldsFormat' is for reading without a schema"),
    ],
    ids=str,
)
def test_an_option_for_a_missing_column_is_refused(
    streaming: bool, given: dict[str, str], schema: StructType, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        reader_of(streaming, given, schema)


@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "stream"])
@pytest.mark.parametrize(
    ("given", "schema"),
    [
        ({"columnNameOfCorruptRecord": "bad"}, StructType().add("bad", "string")),
        ({"valueFormat": "string"}, raw_schema(fields_type("string", "map"))),
        ({"fieldsFormat": "map"}, RAW),
    ],
    ids=str,
)
def test_an_option_for_an_existing_column_is_accepted(
    streaming: bool, given: dict[str, str], schema: StructType
) -> None:
    assert reader_of(streaming, given, schema)


def reader_of(streaming: bool, given: dict[str, str], schema: StructType) -> object:
    source = PenstockDataSource({"subscribe": "s", **given})
    return (source.streamReader if streaming else source.reader)(schema)


def test_min_offsets_can_equal_max_offsets() -> None:
    given = {"subscribe": "s", "minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "9"}
    options = stream_options(given | {"maxTriggerDelay": "5s"})
    assert (options.min_offsets, options.max_offsets, options.max_delay_ms) == (9, 9, 5_000)


def test_ending_offsets_can_name_some_streams_of_a_list_or_pattern() -> None:
    ends = {"endingOffsets": '{"s": "5-0"}'}
    for streams in ({"subscribe": "s,t"}, {"subscribePattern": "*"}):
        assert batch_options(streams | ends).ending.of("s").id == EntryId(5, 0)


def test_a_view_can_be_of_some_streams_or_all() -> None:
    assert batch_options({"view": "groups"}).subscription == Subscription(pattern="*")
    assert batch_options({"view": "groups", "subscribe": "s"}).subscription == Subscription(("s",))


def test_option_names_ignore_case() -> None:
    assert batch_options({"SUBSCRIBE": "s", "fetchsize": "7"}).fetch_size == 7


def test_options_that_spark_adds_are_accepted() -> None:
    batch_options({"subscribe": "s", "path": "x"})


def test_defaults_of_reading() -> None:
    options = stream_options({"subscribe": "s"})
    assert options.server == Server((("127.0.0.1", 6379),))
    assert (options.fetch_size, options.max_offsets, options.max_bytes) == (1_000, 1_000_000, None)
    assert (options.fail_on_data_loss, options.mode) == (True, "PERMISSIVE")
    assert (options.min_offsets, options.max_delay_ms, options.group) == (0, 900_000, "")
    assert 1 <= options.min_partitions <= 4
    assert options.starting.of("s") == LATEST
    assert batch_options({"subscribe": "s"}).starting.of("s") == EARLIEST


def test_defaults_of_writing() -> None:
    options = sink_options({"stream": "s"})
    assert (options.delivery, options.null_fields) == ("exactly-once", "omit")
    assert (options.max_transaction_rows, options.trim) == (100_000, ())


@pytest.mark.parametrize(
    ("given", "subscription"),
    [
        ({"subscribe": "b, a,b"}, Subscription(("b", "a"))),
        ({"subscribePattern": "order:*"}, Subscription(pattern="order:*")),
        ({"assign": '{"b": ["1-0", "+"], "a": ["-", "+"]}'}, Subscription(("a", "b"))),
    ],
    ids=str,
)
def test_subscriptions_are_parsed(given: dict[str, str], subscription: Subscription) -> None:
    assert batch_options(given).subscription == subscription


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("earliest", EARLIEST),
        ("-", EARLIEST),
        ("+", LATEST),
        ("5-3", Bound(Kind.ID, EntryId(5, 2))),
        ("5", Bound(Kind.ID, EntryId(4, LARGEST_PART))),
        ("(5-3", Bound(Kind.ID, EntryId(5, 3))),
        ("(5", Bound(Kind.ID, EntryId(5, LARGEST_PART))),
        ("group:g", Bound(Kind.GROUP, group="g")),
    ],
)
def test_starting_offsets_are_parsed(text: str, bound: Bound) -> None:
    """The id of a bound is the last one that is not read."""
    assert batch_options({"subscribe": "s", "startingOffsets": text}).starting.of("s") == bound


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("5-3", EntryId(5, 3)),
        ("5", EntryId(5, LARGEST_PART)),
        ("(5-3", EntryId(5, 2)),
        ("(5", EntryId(4, LARGEST_PART)),
    ],
)
def test_ending_offsets_are_parsed(text: str, last: EntryId) -> None:
    """The id of a bound is the last one that is read."""
    bound = batch_options({"subscribe": "s", "endingOffsets": text}).ending.of("s")
    assert bound == Bound(Kind.ID, last)


@pytest.mark.parametrize(
    ("text", "ms"), [("250", 250), ("90s", 90_000), ("15m", 900_000), ("7d", 604_800_000)]
)
def test_durations_are_parsed(text: str, ms: int) -> None:
    assert (
        Options({"maxTriggerDelay": text}, "a test", ["maxTriggerDelay"]).duration_ms(
            "maxTriggerDelay", "1s"
        )
        == ms
    )


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("a:1,b:2", (("a", 1), ("b", 2))),
        ("a", (("a", 6379),)),
        ("[::1]:7, [::1]", (("::1", 7), ("::1", 6379))),
    ],
)
def test_addresses_are_parsed(text: str, addresses: tuple[tuple[str, int], ...]) -> None:
    assert sink_options({"bootstrap.servers": text}).fleet.server("").addresses == addresses


def test_the_environment_gives_options_that_are_not_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_SERVERS", "far:7000")
    monkeypatch.setenv("PENSTOCK_USERNAME", "ann")
    monkeypatch.setenv("PENSTOCK_PASSWORD", "secret")
    server = Server.from_environment()
    assert server == Server((("far", 7000),), "ann", "PENSTOCK_PASSWORD")
    assert server.login() == Login("ann", "secret")
    assert Server.from_environment({"host": "near"}).addresses == (("near", 6379),)


def test_options_hold_only_the_variable_s_name_and_not_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PW", "secret")
    server = Server.from_environment({"passwordEnv": "PW"})
    assert "secret" not in repr(server)
    monkeypatch.delenv("PW")
    with pytest.raises(OptionError, match="passwordEnv='PW': this variable is not set"):
        server.login()


def test_the_environment_names_a_credentials_file_unless_an_option_overrides_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_CREDENTIALS_FILE", "/run/secrets/redis")
    assert Server.from_environment().credentials_file == "/run/secrets/redis"
    server = Server.from_environment({"passwordEnv": "PW"})
    assert (server.password_env, server.credentials_file) == ("PW", None)
    monkeypatch.setenv("PENSTOCK_PASSWORD", "secret")
    server = Server.from_environment({"credentialsFile": "f"})
    assert (server.password_env, server.credentials_file) == (None, "f")
    with pytest.raises(OptionError, match="PENSTOCK_PASSWORD and PENSTOCK_CREDENTIALS_FILE"):
        Server.from_environment()


def test_options_hold_only_the_file_s_name_and_not_the_password(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("secret")
    server = Server.from_environment({"credentialsFile": str(tmp_path / "file")})
    login = server.login()
    assert login == Login(None, "secret")
    assert "secret" not in repr((server, login))
    assert b"secret" not in pickle.dumps(server)


def test_any_tls_option_turns_it_on() -> None:
    assert sink_options({"tls.caFile": "ca.pem"}).fleet.server("").tls == Tls(ca_file="ca.pem")
    assert sink_options({"tls": "true"}).fleet.server("").tls == Tls()
    assert sink_options({}).fleet.server("").tls is None


def test_a_password_in_a_server_url_is_not_repeated_in_the_error() -> None:
    for text in ("redis://:hunter2@host:6379", "ann:hunter2@host:6379", "ann:hunter2,x@host"):
        for option in ("bootstrap.servers", "host"):
            with pytest.raises(OptionError, match=f"'{option}' is a URL: give") as refused:
                sink_options({option: text})
            assert "hunter2" not in str(refused.value)


def test_a_streaming_query_refuses_txn_version() -> None:
    options = sink_options({"stream": "s", "txnAppId": "a", "txnVersion": "1"})
    with pytest.raises(OptionError, match="'txnVersion' is for batch writes"):
        PenstockStreamWriter(options, StructType().add("i", "long"))
