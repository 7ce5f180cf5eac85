"""Screenshots of the console, for the docs: made when they are asked for, and named by a page.

PENSTOCK_SCREENSHOTS=yes python -m pytest tests/console/test_screenshots.py
"""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.console.browsing import Chromium, Console, console_page
from tests.console.serving import ConsoleServer

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs/images"
NAMES = ("streams-dark", "streams-light", "backlog", "move", "entry", "phone")
MOST_BYTES = 150_000  # of one
TRAFFIC_S = 62  # a line of rates shows the last minute
HOUR_MS = 3_600_000
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

asked = pytest.mark.skipif(
    "PENSTOCK_SCREENSHOTS" not in os.environ, reason="PENSTOCK_SCREENSHOTS asks for them"
)


def path_of(name: str) -> Path:
    return IMAGES / f"console-{name}.png"


@pytest.mark.parametrize("name", NAMES)
def test_each_picture_is_there_is_small_and_is_shown_by_the_docs(name: str):
    assert 10_000 < path_of(name).stat().st_size <= MOST_BYTES
    assert f"(images/console-{name}.png)" in (ROOT / "docs/console.md").read_text()


# ------------------------------------------------------------------ what is shown


class Shop:
    """The streams of a shop, with queues that are well and some that are not."""

    def __init__(self, redis: Any) -> None:
        self.redis = redis
        self.chance = random.Random(7)

    def order(self, number: int) -> dict[str, str]:
        customer = self.chance.choice(["ann", "bob", "cem", "dana"])
        lines = [{"sku": self.chance.choice(["tea", "cup", "pot"]), "n": 2}]
        order = {"id": 4000 + number, "customer": customer, "lines": lines, "total": 23.5}
        return {"order": json.dumps(order), "traceparent": TRACE}

    def fill(self, key: str, entries: int) -> None:
        """Entries of the last hour."""
        begin = time.time_ns() // 1_000_000 - HOUR_MS
        pipe = self.redis.pipeline(transaction=False)
        for number in range(entries):
            pipe.xadd(key, self.order(number), id=f"{begin + number * HOUR_MS // entries}-0")
        pipe.execute()

    def group(self, key: str, name: str, reads: int, pending: int = 0, **options: str) -> None:
        """A group that has read so many, of which so many are pending."""
        self.redis.xgroup_create(key, name, id="0")
        words = [word for pair in options.items() for word in pair]
        self.redis.execute_command(
            *("XGROUP", "CFGSET", key, name, "DEADLETTER", f"{key}:dead", "MKSTREAM"), *words
        )
        entries = self.redis.xrange(key, count=reads)
        for consumer in ("w1", "w2"):
            self.redis.xreadgroup(name, consumer, {key: ">"}, count=reads // 2)
        done = [entry for entry, _ in entries]
        held = set(self.chance.sample(done, pending))
        self.redis.xack(key, name, *(entry for entry in done if entry not in held))

    def open(self) -> None:
        for key, entries in {
            "orders:berlin": 1400, "orders:lisbon": 830, "orders:oslo": 4000, "payments": 2200,
            "mails": 1100, "audit": 5000, "clicks:eu": 6000, "clicks:us": 4000, "invoices": 310,
            "sensors:roof": 900, "shipments": 640, "jobs:thumbnails": 450,
        }.items():  # fmt: skip
            self.fill(key, entries)
        self.group("orders:oslo", "pickers", 3000, 24, VISIBILITY="600000")
        self.group("orders:berlin", "pickers", 1400, 3)
        self.group("payments", "ledger", 2200, 2)
        self.group("mails", "workers", 1000, 12, VISIBILITY="900000")
        self.group("jobs:thumbnails", "render", 450)
        self.redis.xgroup_create("shipments", "carriers", id="0")
        late = self.redis.xpending_range("orders:oslo", "pickers", "-", "+", 8)
        self.redis.xclaim(
            "orders:oslo", "pickers", "w1", 0, [row["message_id"] for row in late],
            idle=2 * HOUR_MS, retrycount=3,
        )  # fmt: skip
        dead = [
            row["message_id"] for row in self.redis.xpending_range("mails", "workers", "-", "+", 3)
        ]
        self.redis.execute_command(
            *("XNACK", "mails", "workers", "FATAL", "IDS", len(dead), *dead),
            *("REASON", "ConnectionError: the mail server is away"),
        )
        self.redis.execute_command("XADD", "mails", "DELAY", 86_400_000, "*", "to", "ann")

    def trade(self) -> None:
        """A fifth of a second of business."""
        for key, often in {
            "clicks:eu": 0.9, "clicks:us": 0.7, "orders:berlin": 0.3, "audit": 0.6,
            "payments": 0.2, "sensors:roof": 0.5, "orders:oslo": 0.15,
        }.items():  # fmt: skip
            for _ in range(self.chance.randint(0, 4)):
                if self.chance.random() < often:
                    self.redis.xadd(key, self.order(self.chance.randint(0, 999)))


def picture(console: Console, name: str) -> None:
    console.page.screenshot(path=path_of(name), animations="disabled")


def look(chromium: Chromium, server: ConsoleServer, scheme: str, wide: int, tall: int) -> Any:
    viewport = {"width": wide, "height": tall}
    return console_page(chromium.browser, server, color_scheme=scheme, viewport=viewport)


@asked
def test_pictures_are_taken(chromium: Chromium, server: ConsoleServer):
    shop = Shop(server.redis)
    shop.open()
    with (
        look(chromium, server, "dark", 1120, 560) as dark,
        look(chromium, server, "light", 1120, 560) as light,
        look(chromium, server, "light", 360, 640) as phone,
    ):
        for page in (dark, light, phone):
            page.go("streams")
            expect(page.row("orders:oslo")).to_be_visible()
        until = time.monotonic() + TRAFFIC_S
        while time.monotonic() < until:
            shop.trade()
            dark.page.wait_for_timeout(200)
        for page, name in ((dark, "streams-dark"), (light, "streams-light"), (phone, "phone")):
            picture(page, name)
        dark.go("stream", "orders:oslo", "group", "pickers", query="?tab=pending")
        expect(dark.page.locator("table.entries tbody tr").first).to_be_visible()
        picture(dark, "backlog")
        dark.page.set_viewport_size({"width": 1120, "height": 640})
        dark.button("Move").click()
        dark.fill("Entry or time", "40m")
        expect(dark.dialog.locator(".preview strong")).to_be_visible()
        picture(dark, "move")
        [[_, fields]] = server.redis.xrange("mails:dead", count=1)
        light.go("stream", "mails", "entry", fields["dead-id"])
        expect(light.page.locator(".value").first).to_be_visible()
        picture(light, "entry")
