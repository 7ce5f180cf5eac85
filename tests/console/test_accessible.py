"""Each view, dark, light and on a phone: axe finds nothing, nothing is wider than the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python  # type: ignore[import-untyped]  # has no types
import pytest
from playwright.sync_api import expect

from tests.console.browsing import Chromium, Console, console_page
from tests.console.serving import ConsoleServer

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}

# What reaches beyond the right edge of the screen, and cannot be scrolled to.
TOO_WIDE = """() => {
  const wide = document.documentElement.clientWidth;
  const clips = (node) => getComputedStyle(node).overflowX !== "visible" && node.id !== "main";
  const scrolls = (node) => node !== null && (clips(node) || scrolls(node.parentElement));
  return [...document.querySelectorAll("body *")]
    .filter((node) => node.getBoundingClientRect().right > wide + 1 && !scrolls(node))
    .map((node) => node.outerHTML.slice(0, 150));
}"""
FURNITURE = "main :is([data-stop], .vspace .vrow, .facts dd, table.data td, .prompt, figure)"
LIVE = "[aria-live]:not([aria-live=off]), [role=status], [role=alert], [role=log]"

VIEWS: dict[str, tuple[str, ...]] = {
    "streams": ("streams",),
    "stream": ("stream", "jobs"),
    "group": ("stream", "jobs", "group", "workers"),
    "entry": ("stream", "jobs", "entry", "1763985600000-0"),
    "keys": ("keys",),
    "key": ("key", "user"),
    "clients": ("clients",),
    "slowlog": ("slowlog",),
    "latency": ("latency",),
    "memory": ("memory",),
    "replicas": ("replicas",),
    "server": ("server",),
    "command": ("command",),
}


@pytest.fixture
def furnished(server: ConsoleServer) -> ConsoleServer:
    """A server that has something to show in each view."""
    for number in range(60):
        order = '{"id": 7, "lines": [1, 2]}'
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        fields = {"order": order, "traceparent": trace, "a name that is rather long": "x" * 300}
        server.redis.xadd("jobs", fields, id=f"{1763985600000 + number}-0")
    server.redis.xgroup_create("jobs", "workers", id="0")
    policy = ("DEADLETTER", "jobs:dead", "MKSTREAM", "VISIBILITY", "60000")
    server.redis.execute_command("XGROUP", "CFGSET", "jobs", "workers", *policy)
    server.redis.xreadgroup("workers", "ann", {"jobs": ">"}, count=40)
    server.redis.execute_command(
        *("XNACK", "jobs", "workers", "FATAL", "IDS", "1", "1763985600001-0")
    )
    server.redis.execute_command("XADD", "jobs", "DELAY", "86400000", "*", "a", "b")
    server.redis.xadd("a:stream:with:a:name:that:is:much:longer:than:a:phone:is:wide", {"n": 1})
    server.redis.hset("user", mapping={"name": "Ann", "note": "y" * 500})
    server.redis.config_set("slowlog-log-slower-than", 0)
    server.redis.set("slow", "x")
    server.redis.config_set("slowlog-log-slower-than", 10_000)
    return server


@pytest.fixture(params=["dark", "light", "phone"])
def look(
    request: pytest.FixtureRequest, chromium: Chromium, furnished: ConsoleServer
) -> Iterator[Console]:
    looks: dict[str, dict[str, Any]] = {
        "dark": {"color_scheme": "dark"},
        "light": {"color_scheme": "light"},
        "phone": {"color_scheme": "dark", **PHONE},
    }
    with console_page(chromium.browser, furnished, **looks[request.param]) as page:
        yield page


def violations(console: Console) -> list[str]:
    """What axe finds: the rule, and the elements."""
    if not console.page.evaluate("'axe' in window"):
        console.page.evaluate(AXE.read_text())
    found = console.page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}"
        for each in found["violations"]
    ]


def too_wide(console: Console) -> list[str]:
    return list(console.page.evaluate(TOO_WIDE))


def test_axe_finds_nothing_and_nothing_is_too_wide(look: Console):
    wrong = {}
    for name, parts in VIEWS.items():
        look.go(*parts)
        expect(look.page.locator(FURNITURE).first, name).to_be_visible()
        wrong[name] = violations(look) + too_wide(look)
    look.page.keyboard.press("Escape")
    look.go("stream", "jobs", "group", "workers", query="?tab=pending")
    look.button("Move").click()
    look.choose("How", "beginning")
    expect(look.dialog.locator(".preview")).to_contain_text("delivered again")
    wrong["a dialog"] = violations(look) + too_wide(look)
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_switch_changes_the_theme_and_is_remembered(console: Console):
    console.go("streams")
    ground = "getComputedStyle(document.body).backgroundColor"
    colours = []
    for theme in ("Light", "Dark"):
        console.page.locator("#theme").click()
        expect(console.page.locator("#theme")).to_have_text(theme)
        colours.append(console.page.evaluate(ground))
    assert len(set(colours)) == 2
    console.page.reload()
    expect(console.page.locator("#theme")).to_have_text("Dark")
    assert console.page.evaluate(ground) == colours[1]


def test_only_what_people_do_is_announced(console: Console):
    """Live regions do not chatter: figures that change are in none of them."""
    console.redis.xadd("events", {"n": 1})
    console.go("streams")
    expect(console.cell("events", "length")).to_have_text("1")
    said = f"[...document.querySelectorAll('{LIVE}')].map((node) => node.textContent)"
    before = console.page.evaluate(said)
    console.redis.xadd("events", {"n": 2})
    expect(console.cell("events", "length")).to_have_text("2")
    assert console.page.evaluate(said) == before
    assert not any(before)
