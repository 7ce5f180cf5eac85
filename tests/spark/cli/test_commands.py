"""Whole commands, from arguments to output and exit code, in the tests' Spark session."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis

from pyspark_penstock.cli.main import main
from pyspark_penstock.cli.watch import Watch
from pyspark_penstock.jobs.metrics_page import MetricsPage
from pyspark_penstock.jobs.progress import Report
from tests.spark.documented import WATCHING, block
from tests.spark.marks import ONE_SERVER

if TYPE_CHECKING:
    from tests.compat.processes import ServerProcess

pytestmark = [
    pytest.mark.usefixtures("spark", "client"),
    # One server is enough: the tests of source and sink run with both.
    ONE_SERVER,
]
JOB = """
checkpoint = "HERE/checkpoint"
[source.numbers]
subscribe = "in"
startingOffsets = "earliest"
schema = "n int"
[sql]
text = "SELECT n FROM numbers"
[sink]
stream = "out"
[trigger]
once = true
"""


@pytest.fixture(autouse=True)
def here(server: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a job file; the environment names the test's server."""
    monkeypatch.setenv("PENSTOCK_SERVERS", f"127.0.0.1:{server.port}")
    text = JOB.replace("HERE", str(tmp_path))
    (tmp_path / "job.toml").write_text(text)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, list[Any], str]:
    """Run a command. Returns its exit code, the JSON that it printed, and its standard error."""
    code = main([*map(str, words), "--json"])
    printed = capsys.readouterr()
    return code, [json.loads(line) for line in printed.out.splitlines()], printed.err


def fill(client: redis.Redis, count: int) -> None:
    for n in range(count):
        client.xadd("in", {"n": n})


def test_run_reports_batches_and_status_the_position(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    fill(client, 3)
    code, events, _ = run(capsys, "run", here / "job.toml")
    assert code == 0
    assert [event["event"] for event in events] == ["batch", "sink", "end"]
    assert [event["entries"] for event in events[::2]] == [3, 3]
    assert events[0]["bytes_read"] > 3 * len("1763000062499-0")
    assert (events[1]["rows_written"], events[1]["rows_repeated"]) == (3, 0)
    fill(client, 2)
    code, (status,), _ = run(capsys, "status", here / "checkpoint")
    assert (code, status["committed"], status["unfinished"]) == (0, 0, None)
    assert status["sink"]["all"]["rows_written"] == 3
    assert [(s["stream"], s["entries"], s["lag"]) for s in status["streams"]] == [("in", 3, 2)]


def test_the_documented_metrics_ports_serve_what_was_seen(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Only port, stream and folder differ from the docs. A signal ends each after its batch."""
    pages: list[str] = []
    close, after_batch = MetricsPage.close, Watch.after_batch

    def read_and_close(page: MetricsPage) -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{page.port}/metrics") as answer:
            pages.append(answer.read().decode())
        close(page)

    def and_end(watch: Watch, report: Report) -> None:
        after_batch(watch, report)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(MetricsPage, "close", read_and_close)
    monkeypatch.setattr(Watch, "after_batch", and_end)
    monkeypatch.chdir(here)
    fill(client, 3)
    (here / "job.toml").write_text((here / "job.toml").read_text().replace("once = true", ""))
    for line in block(WATCHING, "python -m pyspark_penstock run").splitlines():
        # Spark was started before, and knows no other working folder.
        here_line = line.replace("--to archive", f"--to {here / 'archive'}")
        _, _, _, *words = shlex.split(here_line.replace("9464", "0").replace("orders", "in"))
        assert main(words) == 0
        assert "figures are at http://127.0.0.1:" in capsys.readouterr().err
    by_run, by_archive = pages
    place = 'query="job",server="",stream='
    assert f'penstock_query_stream_entries_read_total{{{place}"in"}} 3.0' in by_run
    assert f'penstock_query_stream_rows_written_total{{{place}"out"}} 3.0' in by_run
    assert 'penstock_query_work_seconds_total{query="job",server="",work="read"}' in by_run
    assert 'server="",stream="in"} 3.0' in by_archive


def test_status_prints_text(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    fill(client, 3)
    run(capsys, "run", here / "job.toml")
    for batch in (here / "checkpoint" / "commits").iterdir():
        batch.unlink()
    assert main(["status", str(here / "checkpoint"), "--server", "127.0.0.1:1"]) == 0
    printed = capsys.readouterr().out
    assert "no batch is committed yet" in printed
    assert "batch 0 is planned, not committed" in printed


def test_lost_entries_exit_with_3(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    fill(client, 3)
    run(capsys, "run", here / "job.toml")
    fill(client, 3)
    client.xtrim("in", maxlen=1, approximate=False)
    code, _, complaint = run(capsys, "run", here / "job.toml")
    assert code == 3
    assert json.loads(complaint)["error"] == "DataLossError"


def test_wrong_options_exit_with_2_and_other_failures_with_1(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    assert run(capsys, "run", here / "nowhere.toml")[0] == 2
    (here / "job.toml").write_text((here / "job.toml").read_text() + "onse = true\n")
    assert "onse" in run(capsys, "run", here / "job.toml")[2]
    assert run(capsys, "archive", "in", "--to", here / "a", "--keep", "1h")[0] == 2
    assert run(capsys, "archive", "in", "--to", here / "a", "--group-takeover")[0] == 2
    assert run(capsys, "status", here / "nowhere")[0] == 1
    assert run(capsys, "status", "hdfs://host/nowhere")[0] == 1
    assert run(capsys, "query", "SELCT 1")[0] == 1
    assert run(capsys, "health", "--server", "127.0.0.1:1")[0] == 1


def test_the_checkpoint_of_another_job_exits_with_1(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    fill(client, 1)
    run(capsys, "run", here / "job.toml")
    text = (here / "job.toml").read_text().replace('subscribe = "in"', 'subscribe = "other"')
    (here / "job.toml").write_text(text)
    code, _, complaint = run(capsys, "run", here / "job.toml")
    assert code == 1
    notice, error = map(json.loads, complaint.splitlines())
    assert notice == {"event": "notice", "message": "there is no stream 'other' yet"}
    assert error["error"] == "CheckpointError"


def test_a_dry_run_starts_nothing(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    fill(client, 1)
    code, (plan,), _ = run(capsys, "run", here / "job.toml", "--dry-run")
    assert (code, plan["schema"], plan["resumes"]) == (0, "n int", False)
    assert not (here / "checkpoint").exists()


def test_an_archive_can_be_restored_and_queried(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    fill(client, 4)
    words = ("archive", "in", "--trim", "--group", "archive", "--to")
    code, events, _ = run(capsys, *words, here / "a")
    assert code == 0
    assert [event["event"] for event in events] == ["batch", "trim", "end"]
    assert events[1]["removed"] == 4
    (group,) = client.xinfo_groups("in")
    assert (group["name"], group["lag"]) == (b"archive", 0)
    assert run(capsys, "status", here / "a")[1][0]["streams"][0]["lag"] == 0
    assert (
        run(capsys, "restore", here / "a", "--stream", "in", "--into", "again")[1][-1]["entries"]
        == 4
    )
    assert run(capsys, "restore", here / "a", "--stream", "in", "--into", "again")[0] == 2
    code, rows, _ = run(capsys, "query", "SELECT sum(n) AS n FROM in", "--archive", here / "a")
    assert (code, rows) == (0, [{"n": 6}])


def test_an_archive_continues_after_a_loss_with_go_on_after_loss(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    words = ("archive", "in", "later", "--to", here / "a")
    fill(client, 1)
    assert "there is no stream 'later' yet" in run(capsys, *words)[2]
    client.xadd("later", {"n": 0})
    fill(client, 3)
    client.xtrim("in", maxlen=1, approximate=False)
    code, _, complaint = run(capsys, *words)
    assert code == 3
    assert "--go-on-after-loss" in json.loads(complaint)["message"]
    code, events, _ = run(capsys, *words, "--go-on-after-loss")
    read = {event["stream"]: event["entries"] for event in events if event["event"] == "batch"}
    assert (code, read) == (0, {"in": 1, "later": 1})


def test_an_interrupt_outside_a_batch_exits_with_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pyspark_penstock.cli.health.health", interrupted)
    assert main(["health"]) == 130
    assert capsys.readouterr().err == "penstock: interrupted\n"


def test_load_health_and_query_print_text(
    capsys: pytest.CaptureFixture[str], client: redis.Redis, here: Path
) -> None:
    (here / "a.csv").write_text("n\n1\n2\n")
    assert main(["load", str(here / "a.csv"), "--stream", "in"]) == 0
    assert "in has 2 more entries" in capsys.readouterr().out
    client.xgroup_create("in", "workers", id="0")
    client.xreadgroup("workers", "ann", {"in": ">"})
    page, picture = here / "h.html", here / "h.png"
    assert main(["health", "--min-idle", "0", "--html", str(page), "--png", str(picture)]) == 0
    assert "ann (2)" in capsys.readouterr().out
    assert "<svg" in page.read_text()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["query", "SELECT n FROM in ORDER BY n"]) == 0
    assert capsys.readouterr().out == "n\n1\n2\n"


@pytest.mark.parametrize("form", ["png", "html"])
def test_a_picture_without_matplotlib_says_what_to_install(
    capsys: pytest.CaptureFixture[str], here: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.delitem(sys.modules, "pyspark_penstock.jobs.health_picture", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["health", f"--{form}", str(here / "h")]) == 2
    assert "pip install 'penstock[charts]'" in capsys.readouterr().err
    assert not (here / "h").exists()


def test_values_without_a_json_type_are_printed_as_text(
    capsys: pytest.CaptureFixture[str], client: redis.Redis
) -> None:
    client.xadd("in", {"b": b"\xff"}, id="1-0")
    _, (row,), _ = run(capsys, "query", "SELECT * FROM in")
    assert row["b"] == "\\xff"
    assert row["_ts"].startswith("1970-01-01")
