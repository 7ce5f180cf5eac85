"""The console in a browser: a page of it, what is on it, and whether it complains."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)

from tests.console.serving import ConsoleServer
from tests.polling import until

CHROMIUM = "chromium"
# No sandbox: tests run as root, too. The rest keeps it from looking for hosts of its maker's.
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
]  # fmt: skip
WITHIN_MS = 20_000
# The page looks for changes more often than it does for people.
SOON = (
    'localStorage.getItem("penstock.every-ms") || localStorage.setItem("penstock.every-ms", "150")'
)

expect.set_options(timeout=WITHIN_MS)


def chromium_path() -> str:
    """Where chromium is. Without it the test is skipped, or fails in CI."""
    path = shutil.which(CHROMIUM)
    if path is None:
        missing = "chromium is not installed (apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    return path


class Chromium:
    """One browser for many tests. Playwright's loop runs only from start() to close()."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._page: Page | None = None

    @property
    def page(self) -> Page:
        """One page for most tests: a process of its own for each would take most of the time."""
        if self._page is None or self._page.is_closed():
            self._page = new_context(self.browser).new_page()
        return self._page

    @property
    def browser(self) -> Browser:
        if self._browser is None:
            path = chromium_path()
            self._playwright = sync_playwright().start()
            self._browser = self._playwright.chromium.launch(executable_path=path, args=FLAGS)
        return self._browser

    def close(self) -> None:
        if self._browser is not None:
            self._browser.close()
        if self._playwright is not None:
            self._playwright.stop()
        self._browser = self._playwright = self._page = None


class Console:
    """A page of the console, and the server that it shows."""

    def __init__(self, page: Page, server: ConsoleServer) -> None:
        self.context = page.context
        self.server = server
        self.redis = server.redis
        self.page = page
        self.complaints: list[str] = []
        self.allowed: list[str] = []  # patterns of complaints that the test expects
        self.page.on("console", self._said)
        self.page.on("pageerror", self._failed)
        self.page.on("request", self._asked)

    def leave(self) -> None:
        """Leave nothing in the page, which another test may take."""
        self.page.evaluate("try { localStorage.clear(); } catch { /* about:blank */ }")
        self.page.goto("about:blank")
        self.page.remove_listener("console", self._said)
        self.page.remove_listener("pageerror", self._failed)
        self.page.remove_listener("request", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")

    def _failed(self, error: Error) -> None:
        self.complaints.append(f"raised: {error}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(self.server.url):
            self.complaints.append(f"a request elsewhere: {request.url}")

    def unexpected(self) -> list[str]:
        """What the page has complained of, but for what is expected."""
        return [
            each
            for each in self.complaints
            if not any(re.search(pattern, each) for pattern in self.allowed)
        ]

    # ------------------------------------------------------------------ going and looking

    def open(self, *parts: str, query: str = "") -> None:
        """Open the view of a route, whose *parts* are as they are: "stream", key, "group", name."""
        path = "/".join(quote(part, safe="") for part in parts)
        self.page.goto(f"{self.server.url}#/{path}{query}")
        if self.page.evaluate("location.hash") != f"#/{path}{query}":
            raise AssertionError("the route was not opened")

    def go(self, *parts: str, query: str = "") -> None:
        """Open a view and wait for its heading, and for the first live answer."""
        self.open(*parts, query=query)
        expect(self.page.locator("main h1")).to_be_visible()
        expect(self.page.locator("#pulse")).to_have_text("live")

    def row(self, name: str) -> Locator:
        """The row of a table that is named *name*."""
        header = self.page.get_by_role("rowheader", name=name, exact=True)
        return self.page.get_by_role("row").filter(has=header)

    def cell(self, name: str, column: str) -> Locator:
        """A cell of the virtual table of streams, keys."""
        return self.row(name).locator(f".c-{column}")

    def names(self) -> list[str]:
        """The row headers of the virtual table, in their order."""
        return self.page.locator(".vspace [role=rowheader]").all_inner_texts()

    def fact(self, name: str) -> Locator:
        """The value of a fact at the top of a view."""
        row = self.page.locator(".facts > div").filter(
            has=self.page.locator("dt", has_text=re.compile(f"^{re.escape(name)}$"))
        )
        return row.locator("dd")

    def button(self, name: str) -> Locator:
        return self.page.locator("main").get_by_role("button", name=name, exact=True)

    # ------------------------------------------------------------------ dialogs

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def fill(self, label: str, text: str) -> None:
        self.dialog.get_by_label(label, exact=True).fill(text)

    def choose(self, label: str, value: str) -> None:
        self.dialog.get_by_label(label, exact=True).select_option(value)

    def submit(self, name: str) -> None:
        """Press the dialog's button, and wait until it has closed."""
        self.press(name)
        expect(self.dialog).to_have_count(0)

    def press(self, name: str) -> None:
        self.dialog.get_by_role("button", name=name, exact=True).click()

    @property
    def error(self) -> Locator:
        """The error that is shown."""
        return self.page.locator(".error:visible")

    def losses(self) -> list[str]:
        """What the open dialog says would be lost."""
        expect(self.dialog).to_be_visible()
        return self.dialog.locator(".losses li").all_inner_texts()

    def answers(self, *words: str) -> Any:
        """The server's reply, as redis-py has it from the wire."""
        return self.redis.execute_command(*words)

    def until(self, fact: Any, what: str) -> None:
        until(fact, what)


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """What pages share: cookies, storage, cache."""
    settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, **options}
    context = browser.new_context(**settings)
    context.set_default_timeout(WITHIN_MS)
    context.add_init_script(SOON)
    return context


@contextmanager
def shown_in(page: Page, server: ConsoleServer) -> Iterator[Console]:
    """The console in *page*; at the end it must have complained of nothing, and leaves nothing."""
    console = Console(page, server)
    try:
        yield console
        if console.unexpected():
            pytest.fail("The page complains:\n" + "\n".join(console.unexpected()), pytrace=False)
    finally:
        console.leave()


@contextmanager
def console_page(browser: Browser, server: ConsoleServer, **options: Any) -> Iterator[Console]:
    """A page in a context of its own."""
    context = new_context(browser, **options)
    try:
        with shown_in(context.new_page(), server) as console:
            yield console
    finally:
        context.close()
