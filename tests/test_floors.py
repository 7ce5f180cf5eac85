"""Every module with a .pxd is compiled, and ARCHITECTURE.md draws the import layers ("floors")."""

from __future__ import annotations

import importlib
import re
import sysconfig
import tomllib
from pathlib import Path

import pytest

from server.parts.scripting.lua import lua_library  # noqa: F401  (before the modules that call Lua)
from tests.worth import COMPILED

ROOT = Path(__file__).parent.parent


def modules_with_pxd() -> list[str]:
    return sorted(
        ".".join(pxd.relative_to(ROOT).with_suffix("").parts)
        for package in ("octets", "protocol", "storage", "server")
        for pxd in (ROOT / package).rglob("*.pxd")
        if pxd.name != "__init__.pxd" and not pxd.read_text().startswith("# inline only")
    )


def test_modules_with_a_pxd_are_found() -> None:
    assert "storage.rax.rax" in modules_with_pxd()


@pytest.mark.parametrize("name", modules_with_pxd())
def test_a_module_with_a_pxd_is_compiled_unless_the_tests_run_uncompiled(name: str) -> None:
    module = importlib.import_module(name)
    suffix = sysconfig.get_config_var("EXT_SUFFIX") if COMPILED else ".py"
    assert module.__file__ is not None
    assert module.__file__.endswith(suffix)


@pytest.mark.skipif(not COMPILED, reason="this leg of the tests runs uncompiled")
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("protocol.encoder", "Encoder"),
        ("protocol.requests", "RequestParser"),
        ("server.network.connection", "Connection"),
        ("server.dispatch.dispatcher", "Dispatcher"),
        ("server.network.epoll.transport", "EpollTransport"),
        ("storage.listpack.listpack", "Listpack"),
        ("storage.rax.rax", "Rax"),
        ("storage.stream.stream", "Stream"),
        ("storage.keyspace.keyspace", "Keyspace"),
    ],
)
def test_the_class_was_compiled_with_its_pxd(module: str, name: str) -> None:
    """Cython silently ignores a .pxd that it does not find; then the class has no vtable."""
    assert hasattr(getattr(importlib.import_module(module), name), "__pyx_vtable__")


def test_architecture_draws_the_layers_that_import_linter_checks() -> None:
    """The layers of the server, as pyproject.toml lists them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["name"] == "the floors of the server")
    text = (ROOT / "ARCHITECTURE.md").read_text()
    drawing = text.partition("imports only folders below it:\n\n")[2].partition("\n\n")[0]
    assert [re.split(r"  +", line.strip())[0] for line in drawing.splitlines()] == layers


FACES = {"console", "http", "metrics", "sites"}  # they came later, and nothing imports them but app
IMPORT = re.compile(r"^\s*(?:from|import) server\.(\w+)", re.MULTILINE)
MOST_ARROWS = 83  # between the others; there were 84 while dispatch/ was a drawer


def test_the_rooms_of_the_server_have_few_arrows_between_them() -> None:
    """An arrow: a folder, or a module beside the folders, imports anything of another one."""
    arrows = set()
    for path in (ROOT / "server").rglob("*.py"):
        room = path.relative_to(ROOT / "server").parts[0].removesuffix(".py")
        for match in IMPORT.finditer(path.read_text()):
            if room not in FACES and match[1] not in {room, *FACES}:
                arrows.add((room, match[1]))
    assert 0 < len(arrows) <= MOST_ARROWS


ALIAS_CALL = re.compile(
    r"\b(list|dict|set)\[[^()\n]*\]\("
)  # list[int]() makes an object, and fails


@pytest.mark.parametrize("floor", ["octets", "protocol", "storage", "server"])
def test_compiled_code_calls_no_generic_alias(floor: str) -> None:
    """Once, each XADD with options made one, and raised an error that nobody saw: half a us."""
    for path in (ROOT / floor).rglob("*.py"):
        if path.with_suffix(".pxd").exists():
            assert not ALIAS_CALL.search(path.read_text()), path
