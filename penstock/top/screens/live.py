"""What all screens share: the lines above and below, the keys, and how an action is done."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Collection, Iterator
from typing import ClassVar

import redis
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from penstock.shown import span
from penstock.top.abilities import Abilities
from penstock.top.actions import Action, Refused, Target
from penstock.top.all_actions import ACTIONS
from penstock.top.feed import Feed
from penstock.top.screens.dialogs import Ask, Confirm, Help
from penstock.top.screens.grid import Grid
from penstock.top.server import LOST, reason

OLD_S = 3.0  # figures that are older are said to be
LINES = ("facts", "state", "about", "notice", "keys")  # the last two stand below
BY_KEY = {action.key: action for action in ACTIONS}


class Watch:
    """What the screens share: the feed, how often it looks, and what can be done."""

    def __init__(self, feed: Feed, interval_s: float, read_only: bool) -> None:
        self.feed = feed
        self.interval_s = interval_s
        self.read_only = read_only
        self.is_paused = False
        self.abilities = Abilities(read_only=read_only)
        self.wanted_db = feed.db
        self._nudge = asyncio.Event()

    def look_now(self) -> None:
        """Do not wait for the end of the interval."""
        self._nudge.set()

    async def wait(self) -> None:
        """Until the next look."""
        try:
            await asyncio.wait_for(self._nudge.wait(), self.interval_s)
        except TimeoutError:
            return
        self._nudge.clear()


class LiveScreen(Screen[None]):
    """A screen with live figures."""

    DEFAULT_CSS = """
    LiveScreen > Static { height: auto; }
    LiveScreen > #facts { background: $panel; padding: 0 1; }
    LiveScreen > #state { padding: 0 1; }
    LiveScreen > #about { padding: 0 1; }
    LiveScreen > #notice { padding: 0 1; }
    LiveScreen > #keys { background: $panel; padding: 0 1; height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave_all", "quit"),
        Binding("escape,backspace", "back", "back"),
        Binding("question_mark", "help", "help"),
        Binding("space", "pause", "pause"),
        Binding("plus,equals_sign", "interval(2.0)", "slower"),
        Binding("minus", "interval(0.5)", "faster"),
        *(Binding(action.key, f"act('{action.key}')", action.name) for action in ACTIONS),
    ]
    acts: ClassVar[str] = ""  # keys of the actions that this screen offers
    more_keys: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch_feed = watch
        self.notice = ""
        self._lines = {name: Static(id=name) for name in LINES}
        self._is_there = False
        self._line_texts: dict[str, Text] = {}  # what each line says now

    @property
    def feed(self) -> Feed:
        return self.watch_feed.feed

    # ------------------------------------------------------------------ what a screen defines

    @abstractmethod
    def body(self) -> Widget:
        """The widget between the lines above and below."""

    @abstractmethod
    def show_figures(self) -> None:
        """Show what the board has now."""

    @abstractmethod
    def state(self) -> Iterator[str]:
        """What is said of this screen in the second line."""

    def target(self) -> Target | None:
        """What actions are about."""
        return None

    def wanted(self) -> Collection[bytes]:
        """The streams whose figures are on the screen."""
        return ()

    def about(self) -> Text:
        """What is said above the table."""
        return Text()

    # ------------------------------------------------------------------ lines above and below

    def compose(self) -> ComposeResult:
        *above, notice, keys = self._lines.values()
        yield from above
        yield self.body()
        yield notice
        yield keys

    def on_grid_moved(self, _: Grid.Moved) -> None:
        self.notice = ""
        self.update_lines()

    def on_mount(self) -> None:
        """At once: the next key that is pressed may be about what is shown."""
        self._is_there = True
        self.update_figures()

    def on_unmount(self) -> None:
        self._is_there = False

    def on_screen_resume(self) -> None:
        self.update_figures()

    def on_resize(self) -> None:
        self.call_after_refresh(self.update_figures)

    def update_figures(self) -> None:
        """Show everything anew, if there is a screen by now, and still."""
        if not self._is_there:
            return
        self.show_figures()
        self.update_lines()

    def update_lines(self) -> None:
        """Show the lines above and below anew: the cursor stands elsewhere."""
        facts = self.feed.figures.facts
        self._set("facts", Text(facts.line if facts else "no answer yet"))
        self._set("state", self._state())
        self._set("about", self.about())
        self._show_notice()
        self._set("keys", self._keys())

    def _set(self, name: str, said: Text) -> None:
        """Have a line say this. To draw it costs more than to see that it says so already."""
        if self._line_texts.get(name) != said:
            self._line_texts[name] = said
            self._lines[name].update(said)
            self._lines[name].display = bool(said.plain)

    def say(self, notice: str) -> None:
        """Say what came of something, until the next key that does something."""
        self.notice = notice
        if self._is_there:
            self._show_notice()

    def _state(self) -> Text:
        watch, figures = self.watch_feed, self.feed.figures
        said = Text(f"db {self.feed.db}")
        for words in self.state():
            said.append(f"  {words}")
        said.append(f"  every {_seconds(watch.interval_s)}")
        if watch.is_paused:
            said.append("  PAUSED", style="bold reverse")
        oldest_s = self.feed.board.oldest_look_s()
        if oldest_s is not None and (age_s := time.monotonic() - oldest_s) > self._old_s():
            said.append(f"  figures up to {span(int(age_s * 1000))} old", style="yellow")
        if figures.problem:
            said.append(f"\n{figures.problem}", style="bold red")
            said.append("; trying again", style="red")
        return said

    def _old_s(self) -> float:
        return max(OLD_S, 2 * self.watch_feed.interval_s)

    def _show_notice(self) -> None:
        lines = [self.notice] if self.notice else []
        self._set("notice", Text("\n".join([*lines, *self.feed.denials])))

    def _keys(self) -> Text:
        said = Text(no_wrap=True, overflow="ellipsis")
        target = self.target()
        for key, does in self.more_keys:
            said.append(key, style="bold")
            said.append(f" {does}  ")
        for key in self.acts:
            is_off = self._why_not(BY_KEY[key], target)
            said.append(key, style="dim" if is_off else "bold")
            said.append(f" {BY_KEY[key].name}  ", style="dim" if is_off else "")
        said.append("?", style="bold")
        said.append(" help  ")
        said.append("q", style="bold")
        said.append(" quit")
        return said

    def _why_not(self, action: Action, target: Target | None) -> str:
        if target is None:
            return self.watch_feed.abilities.why_not(*action.needs) or "nothing is chosen"
        return action.why_not(target, self.watch_feed.abilities)

    # ------------------------------------------------------------------ keys

    def action_leave_all(self) -> None:
        self.app.exit()

    def action_back(self) -> None:
        if len(self.app.screen_stack) > 2:  # below the first one is textual's own
            self.app.pop_screen()

    def action_pause(self) -> None:
        watch = self.watch_feed
        watch.is_paused = not watch.is_paused
        if not watch.is_paused:
            watch.look_now()
        self.update_figures()

    def action_interval(self, factor: float) -> None:
        watch = self.watch_feed
        watch.interval_s = min(60.0, max(0.25, watch.interval_s * factor))
        watch.look_now()
        self.update_figures()

    def action_help(self) -> None:
        target = self.target()
        keys = [("enter", "open", ""), ("escape", "back", "")]
        keys += [(key, does, "") for key, does in self.more_keys if key != "enter"]
        keys += [
            (action.key, action.name, self._why_not(action, target))
            for action in ACTIONS
            if action.key in self.acts
        ]
        keys += [
            ("space", "pause the figures, or go on", ""),
            ("+ -", "look less often, more often", ""),
            ("q", "quit", ""),
        ]
        notes = ("- is what is not known. Trouble: see docs/monitoring.md.",)
        self.app.push_screen(Help(keys, notes))

    @work(exclusive=True, group="act")
    async def action_act(self, key: str) -> None:
        """Do the action of *key*: ask, say what will happen, and do it if that is confirmed."""
        action = BY_KEY[key]
        target = self.target()
        if key not in self.acts or target is None:
            self.say(f"{action.name}: {self._why_not(action, target) or 'not here'}")
            return
        if why_not := action.why_not(target, self.watch_feed.abilities):
            self.say(f"{action.name}: {why_not}")
            return
        said = ""
        if action.prompt:
            ask = Ask(action.prompt, action.suggestion(target))
            answer = await self.app.push_screen_wait(ask)
            if answer is None:
                return
            said = answer
        try:
            plan = await action.plan(target, said, self.feed.server)
            if not await self.app.push_screen_wait(Confirm(plan)):
                self.say(f"{action.name}: left as it is")
                return
            outcome = await action.do(plan, self.feed.server)
        except (Refused, redis.RedisError, *LOST) as error:
            outcome = reason(error)
        self.say(f"{action.name}: {outcome}")
        self.watch_feed.look_now()


def _seconds(seconds: float) -> str:
    return f"{seconds:g} s"
