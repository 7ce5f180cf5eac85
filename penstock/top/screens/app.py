"""The program with a screen: it looks again and again, and shows what it has found."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App
from textual.binding import BindingType

from penstock.top.abilities import Abilities, abilities_of
from penstock.top.feed import Feed
from penstock.top.screens.live import LiveScreen, Watch
from penstock.top.screens.streams import StreamsScreen
from penstock.top.server import LOST, Address


class Top(App[None]):
    """``penstock top``."""

    TITLE = "penstock top"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        address: Address,
        db: int,
        *,
        match: str = "*",
        interval_s: float = 1.0,
        sort: str = "trouble",
        read_only: bool = False,
    ) -> None:
        super().__init__()
        self._feed = Feed(address, db, match)
        self.watch_feed = Watch(self._feed, interval_s, read_only)
        self._sort = sort
        self._knows_abilities = False

    async def on_mount(self) -> None:
        await self.push_screen(StreamsScreen(self.watch_feed, self._sort))
        self.run_worker(self._live(), name="live")

    @property
    def is_ready(self) -> bool:
        """Whether there are figures, and it is known what can be done."""
        return self._knows_abilities and bool(self._feed.figures.looks)

    async def on_unmount(self) -> None:
        await self._feed.close()

    async def _live(self) -> None:
        """Look, show, wait; as long as the program runs."""
        watch = self.watch_feed
        while True:
            if watch.wanted_db != self._feed.db:
                await self._feed.change_db(watch.wanted_db)
            if not watch.is_paused:
                await self._look()
            self._show()
            await watch.wait()

    async def _look(self) -> None:
        screen = self._live_screen()
        if not await self._feed.try_to_look(screen.wanted() if screen else ()):
            self._knows_abilities = False  # another server may come back
            return
        if not self._knows_abilities:
            await self._ask_abilities()

    async def _ask_abilities(self) -> None:
        watch, facts = self.watch_feed, self._feed.figures.facts
        try:
            watch.abilities = await abilities_of(self._feed.server, facts, watch.read_only)
        except LOST:
            watch.abilities = Abilities(read_only=watch.read_only)
        else:
            self._knows_abilities = True

    def _show(self) -> None:
        screen = self._live_screen()
        if screen is not None:
            screen.update_figures()

    def _live_screen(self) -> LiveScreen | None:
        """The uppermost one that is no dialog."""
        screens = [each for each in self.screen_stack if isinstance(each, LiveScreen)]
        return screens[-1] if screens else None
