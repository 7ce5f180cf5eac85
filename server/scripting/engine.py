"""Runs scripts and functions for clients: what they find, what they leave, what is answered."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply
from server.client.client import Client
from server.lua.interpreter import Failure, Interpreter
from server.scripting.script_run import Caller, ScriptRun
from server.table.errors import CountedError

KILLED = "Script killed by user with SCRIPT KILL..."  # also by FUNCTION KILL


class Engine:
    """An *interpreter*, and the *run* that is on."""

    __slots__ = ("interpreter", "run")

    def __init__(self, interpreter: Interpreter, run: ScriptRun) -> None:
        self.interpreter = interpreter
        self.run = run

    def run_for(
        self,
        client: Client,
        caller: Caller,
        argv: list[bytes],
        name: bytes,
        flags: int,
        ref: int,
        keys: list[bytes],
        arguments: list[bytes],
        is_function: bool,
    ) -> Encoder:
        """Run what *ref* refers to for *client*, whose command is *argv*: its result.

        Raises ErrorReply. What the script has chosen (database, protocol) ends with it.
        """
        out = client.out.another()
        database = client.db_index
        self.run.begin(client, caller, argv, name, flags, is_function)
        try:
            if is_function:
                failure = self.interpreter.run_function(ref, keys, arguments, out)
            else:
                failure = self.interpreter.run_script(ref, keys, arguments, out)
            if failure is not None:
                raise self._error_of(failure)
        finally:
            client.db_index = database
            self.run.end()
        return out

    def _error_of(self, failure: Failure) -> ErrorReply:
        """What the client is told of a script that has failed, as Redis words it."""
        this = self.run
        whole = "ERR " + KILLED if this.ends else _text(failure.text)
        if failure.place:
            whole += f" script: {_text(this.name)}, on {_text(failure.place)}."
        code, _, text = whole.partition(" ")
        return (CountedError if failure.counted and not this.ends else ErrorReply)(code, text)


def _text(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
