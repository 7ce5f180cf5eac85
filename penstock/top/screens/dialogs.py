"""The dialogs: a question with a line to fill in, a confirmation that names what happens, help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from penstock.top.actions import Plan

BOX = """
{name} {{ align: center middle; }}
{name} > VerticalScroll {{
    width: 84; max-width: 96%; height: auto; max-height: 90%;
    border: round $primary; padding: 1 2; background: $surface;
}}
{name} Input {{ margin-top: 1; }}
"""


class Ask(ModalScreen[str | None]):
    """Asks for one line. None: the user wants nothing of it."""

    DEFAULT_CSS = BOX.format(name="Ask")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave")]

    def __init__(self, question: str, suggestion: str = "") -> None:
        super().__init__()
        self._question, self._suggestion = question, suggestion

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(Text(self._question))
            yield Input(value=self._suggestion, id="line")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)

    def action_leave(self) -> None:
        self.dismiss(None)


class Confirm(ModalScreen[bool]):
    """Says what will happen, and does it only for the key y."""

    DEFAULT_CSS = BOX.format(name="Confirm")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes"),
        Binding("n,escape,q", "answer(False)", "no"),
    ]

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self.said, id="plan")

    @property
    def said(self) -> Text:
        """All that the dialog says."""
        plan = self.plan
        said = Text(f"{plan.question}\n\n", style="bold red" if plan.is_destructive else "bold")
        for line in plan.says:
            said.append(f"{line}\n", style="not bold default")
        said.append(f"\n{plan.command}\n\n", style="not bold dim default")
        said.append("y  yes      n  no", style="bold default")
        return said

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class Help(ModalScreen[None]):
    """All keys. Those that are of no use here are followed by the reason."""

    DEFAULT_CSS = BOX.format(name="Help")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "leave", "leave")
    ]

    def __init__(self, keys: Sequence[tuple[str, str, str]], notes: Sequence[str]) -> None:
        super().__init__()
        self._keys, self._notes = keys, notes

    def compose(self) -> ComposeResult:
        said = Text()
        for key, does, why_not in self._keys:
            said.append(f"{key:>12}  ", style="bold")
            said.append(does, style="dim" if why_not else "")
            said.append(f"  ({why_not})\n" if why_not else "\n", style="dim")
        for note in self._notes:
            said.append(f"\n{note}")
        with VerticalScroll():
            yield Static(said, id="help")

    def action_leave(self) -> None:
        self.dismiss(None)
