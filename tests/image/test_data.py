"""/data: who owns it, who may write to it, and what is kept there when a container stops."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.image.container import Runner

HARDENED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the host's, which belongs to root and is for nobody else."""
    tmp_path.chmod(0o700)
    return tmp_path


def test_docker_stop_saves_and_a_new_container_has_the_data(run: Runner, folder: Path) -> None:
    volume = ("-v", f"{folder}:/data")
    with run(options=volume) as container:
        container.until_ready().cli("set", "key", "kept")
        state = container.stop()
        assert (state["ExitCode"], state["OOMKilled"]) == (0, False)
    with run(options=volume) as container:
        assert container.until_ready().cli("get", "key") == "kept"


def test_a_folder_of_roots_is_given_to_the_user(run: Runner, folder: Path) -> None:
    (folder / "old.rdb").write_bytes(b"")
    with run("--appendonly", "yes", options=("-v", f"{folder}:/data")) as container:
        container.until_ready()
        owners = {path.stat().st_uid for path in [folder, *folder.rglob("*")]}
        assert owners == {999}


def test_what_is_written_is_for_the_server_alone(run: Runner, folder: Path) -> None:
    with run(options=("-v", f"{folder}:/data")) as container:
        container.until_ready().cli("save")
        assert (folder / "dump.rdb").stat().st_mode & 0o077 == 0


def test_any_user_may_run_it(run: Runner) -> None:
    with run("--appendonly", "yes", options=("--user", "1234")) as container:
        container.until_ready()
        assert container.user() == 1234
        assert container.cli("set", "key", "value") == "OK"
        assert container.health() is None


@pytest.mark.parametrize("user", ["redis", "999:999"])
def test_the_user_is_called_as_in_rediss_image(run: Runner, user: str) -> None:
    with run(options=("--user", user)) as container:
        container.until_ready()
        assert container.user() == 999


@pytest.mark.parametrize("user", ["0", "999", "1234"])
def test_it_runs_without_rights_and_on_a_disk_that_only_its_volume_writes_to(
    run: Runner, user: str
) -> None:
    with run("--appendonly", "yes", options=(*HARDENED, "--user", user)) as container:
        container.until_ready()
        assert container.cli("set", "key", "value") == "OK"
        assert container.cli("bgrewriteaof").startswith("Background")
        assert container.health() is None
        assert container.stop()["ExitCode"] == 0


def test_on_a_tmpfs_it_keeps_nothing_and_needs_nothing(run: Runner) -> None:
    with run(options=("--read-only", "--tmpfs", "/data", "-e", "REDIS_PASSWORD=a")) as container:
        container.until_ready("--no-auth-warning", "-a", "a")
        assert container.user() == 999


def test_a_folder_that_cannot_be_written_to_ends_the_start_with_a_line(
    run: Runner, folder: Path
) -> None:
    done = run.output(options=("-v", f"{folder}:/data:ro"))
    assert done.returncode == 1
    assert "/data" in done.stderr or "/data" in done.stdout


def test_a_server_with_init_stops_as_cleanly(run: Runner, folder: Path) -> None:
    with run(options=("--init", "-v", f"{folder}:/data")) as container:
        container.until_ready().cli("set", "key", "kept")
        assert container.health() is None
        assert container.stop()["ExitCode"] in (0, 143)
    assert (folder / "dump.rdb").exists()


def test_config_rewrite_writes_to_a_mounted_configuration(run: Runner, tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "my.conf").write_text("timeout 5\n")
    os.chown(conf, 999, 999)
    os.chown(conf / "my.conf", 999, 999)
    with run("/conf/my.conf", options=("-v", f"{conf}:/conf")) as container:
        container.until_ready().cli("config", "set", "maxclients", "77")
        assert container.cli("config", "rewrite") == "OK"
        lines = (conf / "my.conf").read_text().splitlines()
        assert {"timeout 5", "maxclients 77"} <= set(lines)


def test_the_image_has_no_compiler_no_tests_and_little_else(run: Runner) -> None:
    listed = run.output(
        "python3", "-c",
        "import os, json; print(json.dumps([os.path.join(f, n)"
        " for f, _, names in os.walk('/opt/penstock') for n in names]))",
    )  # fmt: skip
    names = json.loads(listed.stdout)
    unwanted = (".c", ".h", ".cpp", ".pxd", ".pyx", ".pyi", ".pyc.tmp", ".whl")
    assert [name for name in names if name.endswith(unwanted)] == []
    assert [name for name in names if "/tests/" in name or "/pip/" in name] == []
    assert [os.path.basename(n).split(".")[0] for n in names if "/lupa/lua" in n] == ["lua51"]
    assert run.output("sh", "-c", "command -v gcc cc pip make").stdout.strip() == ""


def test_it_adds_less_than_50_mb_to_its_base(run: Runner) -> None:
    """0.1 added 151 MB. docker counts layers as they are before compression."""
    columns = "{{.Size}} {{.CreatedBy}}"
    sizes = run.engine.do("history", "--human=false", "--format", columns, run.image)
    added = 0
    for line in sizes.splitlines():
        size, _, created_by = line.partition(" ")
        added += int(size)
        if "redis:x:999" in created_by:
            break
    assert 10_000_000 < added < 50_000_000
