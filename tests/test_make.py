"""``make test`` runs every leg, and says which ones failed; what is not a test needs little.

The first ``make run`` does not wait for the compiler.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
TIMEOUT_S = 60

LEGS = """
include {makefile}
good: ; @echo good has run
bad: ; @echo bad has run; false
unlucky: ; @echo "E   assert 1 == 2"; echo; echo "FAILED tests/test_it.py::test_it"; seq 99; false
test-fine: ; @echo fine has run
leg-hopeless: needed
needed: ; @false
long: ; @echo long has begun; exec sleep 1000
"""

RUN = """
include {makefile}
SERVE = echo serves; touch served; {wait_for_core}
build/.compiled: ; @echo compiles; {wait_for_server} mkdir -p build; touch $@
"""


def start(folder: Path, *legs: str) -> subprocess.Popen[str]:
    """Start ``make test`` with these *legs*, in a process group of its own."""
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    for sources in ("octets", "protocol", "storage", "server"):
        (folder / sources).mkdir()
    (folder / "Makefile").write_text(LEGS.format(makefile=MAKEFILE))
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    return subprocess.Popen(
        ["make", "test", "FIRST_LEGS=", f"LEGS={' '.join(legs)}", "LAST_LEGS=", "DEV_READY="],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("target", "extra"),
    [
        ("run", "core"), ("docs", "core"), ("bench", "tools"), ("demo", "tools"),
        ("crash", "tools"), ("site", "docs"), ("bench-spark", "spark"), ("demo-pipeline", "spark"),
        ("lint-types", "dev"),
    ],
)  # fmt: skip
def test_a_target_installs_no_more_than_it_needs(tmp_path: Path, target: str, extra: str) -> None:
    (tmp_path / "Makefile").write_text(f"include {MAKEFILE}\n")
    for name in ("pyproject.toml", "build_ext.py"):
        (tmp_path / name).touch()
    said = subprocess.run(
        ["make", "--dry-run", target], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    asked = set(re.findall(r'--editable "\.\[([^]]*)\]"', said))
    assert asked == {"core", {"core": "core", "dev": "dev"}.get(extra, f"core,{extra}")}


@pytest.mark.parametrize(
    ("extra", "packages"), [("tools", {"redis"}), ("docs", {"mkdocs-material"})]
)
def test_an_extra_for_tools_and_pages_is_small(extra: str, packages: set[str]) -> None:
    project = tomllib.loads((MAKEFILE.parent / "pyproject.toml").read_text("utf-8"))["project"]
    needs = project["optional-dependencies"][extra]
    assert {re.split(r"[^\w-]", line)[0] for line in needs} == packages


def printed_lines(made: subprocess.Popen[str]) -> list[str]:
    """The lines that it prints until it ends."""
    return made.communicate(timeout=TIMEOUT_S)[0].splitlines()


def test_a_failed_leg_does_not_stop_the_others(tmp_path: Path) -> None:
    made = start(tmp_path, "bad", "good")
    *lines, last = printed_lines(made)
    assert {"bad: bad has run", "good: good has run"} <= set(lines)
    assert last == "make test: failed: bad"
    assert made.returncode != 0


def test_the_end_says_again_why_legs_failed(tmp_path: Path) -> None:
    lines = printed_lines(start(tmp_path, "bad", "good", "unlucky"))
    *_, why, which, last = lines
    assert why == "unlucky: E   assert 1 == 2"
    assert which == "unlucky: FAILED tests/test_it.py::test_it"
    assert sorted(last.split()[3:]) == ["bad", "unlucky"]


def test_make_test_succeeds_if_no_leg_fails(tmp_path: Path) -> None:
    made = start(tmp_path, "good", "test-fine")
    *lines, last = printed_lines(made)
    assert sorted(lines) == ["fine: fine has run", "good: good has run"]
    assert last.split() == ["make", "test:", "all", "is", "well:", "good", "test-fine"]
    assert made.returncode == 0


def test_what_all_legs_need_is_made_first_and_its_failure_is_a_failure(tmp_path: Path) -> None:
    made = start(tmp_path, "hopeless", "good")
    assert printed_lines(made) == ["good: good has run", "make test: failed:"]
    assert made.returncode != 0


def test_an_interrupt_ends_make_test_at_once(tmp_path: Path) -> None:
    made = start(tmp_path, "long", "good")
    assert made.stdout is not None
    assert {made.stdout.readline(), made.stdout.readline()} == {
        "long: long has begun\n",
        "good: good has run\n",
    }
    os.killpg(made.pid, signal.SIGINT)
    assert printed_lines(made) == []
    assert made.returncode != 0


def make_run(folder: Path, wait_for_core: str = "", wait_for_server: str = "") -> list[str]:
    """What `make run` in *folder* prints, where server and compiler may wait for each other."""
    (folder / "Makefile").write_text(
        RUN.format(makefile=MAKEFILE, wait_for_core=wait_for_core, wait_for_server=wait_for_server)
    )
    for name in ("pyproject.toml", "build_ext.py"):
        (folder / name).touch()
    made = subprocess.run(
        ["make", "run", "RUN_READY="],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if "MAKE" not in name},
        stdout=subprocess.PIPE,
        timeout=TIMEOUT_S,
        text=True,
        check=True,
    )
    return made.stdout.splitlines()


def test_the_first_start_serves_while_the_core_is_compiled(tmp_path: Path) -> None:
    *both, last = make_run(
        tmp_path,
        wait_for_core="until [ -e build/.compiled ]; do sleep 0.01; done",
        wait_for_server="until [ -e served ]; do sleep 0.01; done;",
    )
    assert sorted(both) == ["compiles", "serves"]
    assert last.startswith("The core is compiled. Start again")


def test_a_start_with_a_core_compiles_what_has_changed_and_then_serves(tmp_path: Path) -> None:
    (tmp_path / "storage").mkdir()
    (tmp_path / "storage" / "compiled_code.cpython-311-x86_64-linux-gnu.so").touch()
    assert make_run(tmp_path) == ["compiles", "serves"]
