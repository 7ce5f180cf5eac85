"""Every block of the pages is of a language that is checked: here, or in test_played.py."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import server.commands  # noqa: F401  (fills the table)
from server.config.parameters import Config
from server.config.redis_conf import numbered, read_lines
from server.table.command import TABLE
from tests.docs.pages import PAGES, ROOT, SHELL, Block, blocks

TARGETS = re.compile(r"^([\w-]+):", re.MULTILINE)
PARAMETER = re.compile(r"--([a-z][\w-]+)")
OWN_OPTIONS = {"help", "version", "check-system", "test-memory"}
STARTS_A_SERVER = re.compile(r"-m server(?:\.__main__)? |penstock serve |make run ARGS=")
PROGRAM_END = re.compile(r"\s(?:\||&&|>|<)\s|;|$")

ALL = [block for page in PAGES for block in blocks(page)]


def of(*languages: str) -> list[Block]:
    return [block for block in ALL if block.language in languages]


def shell_of(block: Block) -> str:
    """What is typed in *block*: of a ``console`` block, the lines with a prompt."""
    lines = block.text.splitlines()
    if block.language == "console" or lines[0].startswith("$ "):
        return "\n".join(line[2:] for line in lines if line.startswith("$ "))
    return block.text


def accepted(block: Block, read: Callable[[str], object]) -> None:
    try:
        read(block.text)
    except Exception as error:
        raise AssertionError(f"{block}: {error}") from error


def test_every_block_is_of_a_known_language() -> None:
    known = {SHELL, "console", "redis-cli", "redis", "python", "conf", "ini", "toml", "yaml",
             "json", "dockerfile", "text", "lua", "pycon"}  # fmt: skip
    assert [str(block) for block in ALL if block.language not in known] == []


SHELLS = of(SHELL, "console")


@pytest.mark.parametrize("block", SHELLS, ids=str)
def test_a_shell_understands_what_is_typed(block: Block) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    checked = subprocess.run(
        [bash, "-n"], input=shell_of(block), capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, f"{block}: {checked.stderr}"


def commands(block: Block) -> list[str]:
    """The lines that are typed in *block*; those that end with a backslash are joined."""
    return shell_of(block).replace("\\\n", " ").splitlines()


@pytest.mark.parametrize("block", SHELLS, ids=str)
def test_make_and_python_find_what_they_are_asked_for(block: Block) -> None:
    targets = set(TARGETS.findall((ROOT / "Makefile").read_text("utf-8")))
    for line in commands(block):
        words = line.partition(" #")[0]
        for target in re.findall(r"(?:^|&& )make ([\w-]+)", words):
            assert target in targets, line
        for module in re.findall(r"python3? -m ([\w.]+)", words):
            path = ROOT / module.replace(".", "/")
            standard = module.partition(".")[0] in sys.stdlib_module_names
            assert standard or module in {"pip", "pytest", "mkdocs"} or (
                path.with_suffix(".py").exists() or (path / "__main__.py").exists()
            ), line  # fmt: skip
        for verb in re.findall(r"(?:^|&& )penstock ([a-z]+)", words):
            assert f"penstock {verb}" in usage(), line


def usage() -> str:
    """What ``penstock --help`` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "--help"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.replace("python -m penstock", "penstock")


@pytest.mark.parametrize("block", SHELLS, ids=str)
def test_the_options_of_a_server_are_its_parameters(block: Block) -> None:
    for line in (typed.partition(" #")[0] for typed in commands(block)):
        if start := STARTS_A_SERVER.search(line):
            words = line[start.end() : PROGRAM_END.search(line, start.end()).start()]  # type: ignore[union-attr]
            config = Config()
            for name in set(PARAMETER.findall(words)) - OWN_OPTIONS:
                assert hasattr(config, name.replace("-", "_")), f"{name}: {line}"


@pytest.mark.parametrize("block", SHELLS, ids=str)
def test_a_replica_of_a_server_on_the_same_machine_has_a_folder_of_its_own(block: Block) -> None:
    """In one folder the second server would not start."""
    for line in commands(block):
        if STARTS_A_SERVER.search(line) and "--replicaof '127.0.0.1" in line:
            assert "--dir " in line, line


@pytest.mark.parametrize("block", SHELLS, ids=str)
def test_redis_cli_is_given_commands_that_exist(block: Block) -> None:
    values = {"-h", "-p", "-a", "-n", "-u", "--cacert", "--cert", "--key", "--user", "--rdb", "-x"}
    for line in commands(block):
        words = shlex.split(line, comments=True)
        if words[:1] != ["redis-cli"]:
            continue
        del words[0]
        while words and words[0].startswith("-"):
            del words[: 2 if words[0] in values else 1]
        if words:
            assert TABLE.find(words[0].encode()) is not None, line


@pytest.mark.parametrize("block", of("conf"), ids=str)
def test_a_configuration_is_accepted(block: Block) -> None:
    accepted(block, lambda text: read_lines(Config(), numbered(text, str(block))))


@pytest.mark.parametrize("block", of("yaml"), ids=str)
def test_yaml_is_read(block: Block) -> None:
    accepted(block, lambda text: list(yaml.safe_load_all(text)))


@pytest.mark.parametrize("block", of("toml"), ids=str)
def test_toml_is_read(block: Block) -> None:
    accepted(block, tomllib.loads)


@pytest.mark.parametrize("block", of("json"), ids=str)
def test_json_is_read(block: Block) -> None:
    accepted(block, json.loads)


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_python_is_read(block: Block) -> None:
    accepted(block, lambda text: compile(text, str(block), "exec"))


def test_the_parser_of_pages_finds_blocks_of_both_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "# A\n\n```python\nx = 1\n```\n\nText:\n\n    make a\n\n    make b\n\n- item\n  more\n"
    (tmp_path / "page.md").write_text(page)
    monkeypatch.setattr("tests.docs.pages.ROOT", tmp_path)
    assert blocks("page.md") == [
        Block("page.md", 4, "python", "x = 1"),
        Block("page.md", 9, SHELL, "make a\n\nmake b"),
    ]
