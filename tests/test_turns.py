"""What comes from outside comes in by the turn: nobody else looks at the clock or serves keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "server").rglob("*.py"))

# The only files for these words, which only make sense in a certain order.
SPOKEN_BY = {
    "Timekeeper": {"timekeeper", "turn", "dispatcher", "execution", "long_scripts", "waits"},
    "serve_ready": {"dispatcher", "replaying", "turn", "waits"},
    "resume_all": {"turn"},
}

# How a function is handed to the event loop, and at which place among the words it stands.
HANDED_BY = {
    "add_reader": 1,
    "add_signal_handler": 1,
    "add_writer": 1,
    "call_at": 1,
    "call_later": 1,
    "call_soon": 0,
    "call_soon_threadsafe": 0,
    "_call_soon": 0,
    "_watch": 1,
}
PASSED_ON = {"call", "accept", "reload"}  # the word that another caller has handed over

# What the loop calls: as a turn, or without a need for one.
TURNS = {
    "self._turn.run": "a timer's turn",
    "partial(self.run, call)": "a turn of its own for what was put off",
    "self._finish": "the end of a turn that asked for it",
    "self.turn": "the turn of the sockets",
    "self._tick": "a tick of cron, which is run as a turn",
}
NO_TURNS = {
    "lambda: stop(signal.SIGINT, config.shutdown_on_sigint)": "the server ends",
    "lambda: stop(signal.SIGTERM, config.shutdown_on_sigterm)": "the server ends",
    "self._accept": "a socket is accepted: its connection enters",
    "self._declare_commands": "commands are declared; none is run",
    "self._give_back_pages": "the program's own memory",
    "self._accept_again": "a listening socket accepts again",
    "self._portions_sent": "a socket has taken all that it was given",
    "self._continue_some": "a handshake of TLS: its connection enters",
    "self._bell_rang": "the selector's bell",
    "self._read": "a child's pipe: what it brings is sent at the end of a turn that it asks for",
    "closed.let_go": "what was closed outside of a turn",
    "partial(self._call, call)": "counts the calls that are due",
}


def calls_of(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The name by which a function is handed to the loop, and the function, as they are written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            at = HANDED_BY.get(node.func.attr)
            if at is not None and len(node.args) > at:
                yield node.func.attr, ast.unparse(node.args[at])


@pytest.mark.parametrize("word", SPOKEN_BY)
def test_only_the_road_speaks_of(word: str) -> None:
    named = {path.stem for path in MODULES if word in path.read_text()}
    assert named <= SPOKEN_BY[word]


def test_whatever_the_loop_calls_is_a_turn_or_needs_none() -> None:
    """A new timer or reader that changes data goes by Turn.run(); then this needs no word."""
    handed = {
        call: path.relative_to(ROOT)
        for path in MODULES
        for _, call in calls_of(ast.parse(path.read_text()))
    }
    known = {*TURNS, *NO_TURNS, *PASSED_ON}
    assert {call: where for call, where in handed.items() if call not in known} == {}
    assert known - set(handed) == set()


def test_a_function_that_is_handed_to_the_loop_is_seen() -> None:
    text = "def start(self): self._loop.call_later(2, self._serve_all)"
    assert list(calls_of(ast.parse(text))) == [("call_later", "self._serve_all")]
