"""Names of any bytes, in columns, in JSON and in printed text."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from pyspark_penstock.cli.main import main
from pyspark_penstock.cli.output import Output, printable
from pyspark_penstock.connect.hash_tags import tagged
from pyspark_penstock.connect.slots import key_slot
from pyspark_penstock.entry_id import LAST
from pyspark_penstock.jobs.health import health
from pyspark_penstock.jobs.health_picture import png
from pyspark_penstock.jobs.text_tables import table
from pyspark_penstock.names import key, readable, text, utf8
from pyspark_penstock.read import views
from pyspark_penstock.source import PenstockDataSource
from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xreadgroup

STREAM, GROUP, CONSUMER = b"caf\xe9\n", b"\xff\x1b[31mred", b"ann\r\n\xfe"
SHOWN = r"caf\xe9\n", r"\xff\x1b[31mred", r"ann\r\n\xfe"
AS_UTF8 = "caf\ufffd\n", "\ufffd\x1b[31mred", "ann\r\n\ufffd"


@given(st.binary(max_size=8))
def test_any_name_is_printed_in_one_line_and_is_utf_8_in_json(name: bytes) -> None:
    shown = readable(text(name))
    assert len(f"{shown}.".splitlines()) == 1
    assert shown == readable(shown)
    assert json.loads(json.dumps(utf8(text(name))).encode()) == name.decode("utf-8", "replace")
    shown.encode()


def test_printable_text_is_not_escaped() -> None:
    assert readable("grün \U0001f600 a\\b") == "grün \U0001f600 a\\b"
    assert readable("\x00\x9b\u2028") == r"\x00\x9b\u2028"


def test_columns_stay_aligned_with_control_characters_in_names() -> None:
    assert list(table(["s", "n"], [["a\x1b", "1"], ["\udcff", "10"]])) == [
        "s       n",
        r"a\x1b   1",
        r"\xff   10",
    ]


def test_a_terminal_of_another_encoding_gets_escapes() -> None:
    assert printable("grün \u2026", "latin-1") == r"grün \u2026"
    assert printable("grün", None) == "grün"


def test_json_output_is_valid_utf_8(capsys: pytest.CaptureFixture[str]) -> None:
    """A lone surrogate is not valid in UTF-8."""
    Output(as_json=True).say([], {"stream": text(STREAM), "to": {text(GROUP): 1}, "at": Path("x")})
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert found == {"stream": AS_UTF8[0], "to": {AS_UTF8[1]: 1}, "at": "x"}
    assert json.dumps(found, ensure_ascii=False).encode()


@pytest.fixture
def strange_names(client: redis.Redis) -> None:
    """A stream, a group and a consumer with names that are not text, and a pending entry."""
    client.xadd(STREAM, {"a": 1}, id="1-0")
    client.xgroup_create(STREAM, GROUP, id="0")
    for _ in range(2):
        xreadgroup(client, GROUP, CONSUMER, STREAM)
        client.xclaim(STREAM, GROUP, CONSUMER, 0, ["1-0"])


@ONE_SERVER
@pytest.mark.usefixtures("strange_names")
def test_health_shows_strange_names_in_table_page_and_png(
    at: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = f"{at['host']}:{at['port']}"
    words = ["health", "--server", server, "--min-idle", "0", "--html", str(tmp_path / "h.html")]
    assert main(words) == 0
    head, row, redelivered = capsys.readouterr().out.splitlines()
    stream, group, consumer = SHOWN
    assert head.startswith("stream")
    assert row.startswith(f"{stream}  {group}  ")
    assert row.endswith(f"{consumer} (1)")
    assert redelivered.startswith(f"{stream} / {group}: 1-0 was given out")
    assert f"last to {consumer} " in redelivered
    page = (tmp_path / "h.html").read_text("utf-8")
    assert all(f">{name}" in page for name in (stream, group))
    assert "\x1b" not in page
    assert png(health(at), "now")  # a label of two lines would cover another


@ONE_SERVER
@pytest.mark.usefixtures("strange_names")
def test_health_in_json_has_the_same_names_as_the_views(
    at: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["health", "--json", "--server", f"{at['host']}:{at['port']}"]) == 0
    found = json.loads(capsys.readouterr().out)
    worst = found["most_redelivered"][0]
    assert (found["stream"], found["group"], worst["consumer"]) == AS_UTF8


@ONE_SERVER
@pytest.mark.usefixtures("strange_names")
@pytest.mark.parametrize("view", views.SCHEMAS)
def test_a_view_can_hold_strange_names(at: dict[str, str], view: str) -> None:
    reader = PenstockDataSource(at | {"view": view}).reader(views.SCHEMAS[view])
    batches: list[Any] = [b for p in reader.partitions() for b in reader.read(p)]
    (row,) = [row for batch in batches for row in batch.to_pylist()]
    columns = ("stream", "group", "consumer")
    assert [row[c] for c in columns if c in row] == list(AS_UTF8)[: len(row.keys() & {*columns})]


@ONE_SERVER
def test_a_view_lists_a_pending_entry_of_the_largest_id(
    client: redis.Redis, at: dict[str, str]
) -> None:
    client.xadd("s", {"a": 1}, id=str(LAST))
    client.xgroup_create("s", "g", id="0")
    xreadgroup(client, "g", "c", "s")
    reader = PenstockDataSource(at | {"view": "pending"}).reader(views.SCHEMAS["pending"])
    batches: list[Any] = [b for p in reader.partitions() for b in reader.read(p)]
    assert [row["id"] for batch in batches for row in batch.to_pylist()] == [str(LAST)]


@given(st.text("{}ab.", min_size=1, max_size=6))
def test_a_prefix_is_in_the_slot_of_its_stream_whatever_braces_its_name_has(name: str) -> None:
    assert key_slot(key(f"{tagged(name)}:spark:q:0")) == key_slot(key(name))


def test_no_two_streams_have_the_same_prefix() -> None:
    short = {"".join(some) for n in range(1, 4) for some in product("{}a.!", repeat=n)}
    names = short | {tagged(name)[:-1] for name in short} | {tagged(name) for name in short}
    assert len({tagged(name) for name in names}) == len(names)
    assert [tagged(name) for name in ("x", "{x}", "{x}y")] == ["{x}", "{x}.", "{x}y."]
