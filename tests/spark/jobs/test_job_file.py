"""Job files: how they are read, and which are refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pyspark_penstock.jobs.failures import UsageError
from pyspark_penstock.jobs.job_file import PipelineJob, job_of, read_job

GOOD = """
checkpoint = "/tmp/c"
[server]
"bootstrap.servers" = "a:1"
[source.orders]
subscribe = ["a", "b"]
failOnDataLoss = false
maxOffsetsPerTrigger = 10
startingOffsets = {a = "group:g"}
schema = "x int, _ts timestamp"
watermark = "5 seconds"
group = "g"
[source.prices]
format = "parquet"
static = true
path = "/prices"
[sql]
text = "SELECT 1"
[sink]
stream = "out"
[trigger]
every = "5 seconds"
"""


def job(text: str, **server: str) -> PipelineJob:
    return job_of(tomllib.loads(text), Path("/jobs/name.toml"), server)


def test_all_parts_are_read() -> None:
    found = job(GOOD)
    orders, prices = found.sources
    assert (found.name, found.checkpoint, found.every, found.once) == (
        "name", "/tmp/c", "5 seconds", False,
    )  # fmt: skip
    assert (orders.format, orders.watermark_column) == ("penstock", "_ts")
    assert orders.options["group"] == "g"
    assert prices.static
    assert found.sink.output_mode == "append"


def test_option_values_become_text() -> None:
    options = job(GOOD).sources[0].options
    assert options["subscribe"] == "a,b"
    assert options["failOnDataLoss"] == "false"
    assert options["maxOffsetsPerTrigger"] == "10"
    assert options["startingOffsets"] == '{"a": "group:g"}'


def test_server_options_are_given_to_streams_only() -> None:
    found = job(GOOD)
    assert found.sources[0].options["bootstrap.servers"] == "a:1"
    assert found.sink.options["bootstrap.servers"] == "a:1"
    assert found.sources[1].options == {"path": "/prices"}


def test_the_command_line_s_server_overrides_the_file_s() -> None:
    found = job(GOOD, **{"bootstrap.servers": "b:2"})
    assert found.sources[0].options["bootstrap.servers"] == "b:2"


def test_another_address_keeps_the_file_s_tls_and_password() -> None:
    text = GOOD.replace('"a:1"', '"a:1"\ntls = true\npasswordEnv = "PW"')
    for server in ({"bootstrap.servers": "b:2"}, {"Host": "b"}):
        found = job(text, **server)
        assert found.server == {**server, "tls": "true", "passwordEnv": "PW"}
    found = job(text, credentialsFile="/run/secret", TLS="false")
    assert found.server == {
        "bootstrap.servers": "a:1", "credentialsFile": "/run/secret", "TLS": "false",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("checkpoint =", "chekpoint =", "'chekpoint'.*did you mean 'checkpoint'"),
        ('checkpoint = "/tmp/c"', "", "lacks 'checkpoint'"),
        ('checkpoint = "/tmp/c"', "checkpoint = 3", "must be a text"),
        ("[sql]", "[sqll]", "'sqll'.*did you mean 'sql'"),
        ('text = "SELECT 1"', "", "either"),
        ("[sink]", 'python = "a:b"\n[sink]', "which means nothing|either"),
        ('[sink]\nstream = "out"', "", "sink.*missing"),
        ('stream = "out"', 'stream = "out"\noutputMode = "update"', "only appended"),
        ('stream = "out"', 'stream = "out"\noutputMode = "all"', "one of append, update"),
        ("every =", "evry =", "'evry'.*did you mean 'every'"),
        ("every =", "once = true\nevery =", "'every' and 'once' contradict"),
        ('every = "5 seconds"', 'once = "true"', r"\[trigger\]: 'once' must be true or false"),
        ("static = true", 'static = "yes"', r"\[source.prices\]: 'static' must be true or false"),
        ('stream = "out"', 'stream = "out"\npartitionBy = [1]', "'partitionBy' must be a list"),
    ],
)
def test_an_invalid_entry_is_refused_by_name(old: str, new: str, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        job(GOOD.replace(old, new))


def test_a_single_partition_column_needs_no_list() -> None:
    found = job(GOOD.replace('stream = "out"', 'format = "parquet"\npartitionBy = "item"'))
    assert found.sink.partition_by == ("item",)


def test_a_pipeline_of_static_sources_only_is_refused() -> None:
    text = GOOD.replace("[source.orders]", "[source.orders]\nstatic = true")
    with pytest.raises(UsageError, match="nothing to wait for"):
        job(text)


def test_an_invalid_or_missing_file_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("= 3")
    with pytest.raises(UsageError, match=r"bad\.toml"):
        read_job(bad)
    with pytest.raises(UsageError, match=r"missing\.toml"):
        read_job(tmp_path / "missing.toml")
