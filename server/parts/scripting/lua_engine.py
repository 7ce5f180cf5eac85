"""The engine of Lua: what scripts and functions find, what they leave, what is answered."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply
from server.client.client import Client
from server.parts.scripting.lua.interpreter import Failure, Interpreter
from server.parts.scripting.script import FIRST_KEY, Engine
from server.parts.scripting.script_run import ScriptRun
from server.table.errors import CountedError

KILLED = "Script killed by user with SCRIPT KILL..."  # also by FUNCTION KILL


class LuaEngine(Engine):
    """An *interpreter*, and the *run* that is on."""

    __slots__ = ("_out", "interpreter", "run")

    def __init__(self, interpreter: Interpreter, run: ScriptRun) -> None:
        self.interpreter = interpreter
        self.run = run
        self._out = Encoder()  # for one result after the other

    def run_for(
        self,
        client: Client,
        argv: list[bytes],
        name: bytes,
        flags: int,
        ref: int,
        keys: int,
        is_function: bool,
    ) -> Encoder:
        out = self._out
        if out.overflown:
            out = self._out = Encoder()
        out.clear()
        out.resp = client.out.resp
        out.limit = client.out.limit
        database = client.db_index
        self.run.begin(client, argv, name, flags, is_function)
        try:
            if is_function:
                failure = self.interpreter.run_function(ref, argv, FIRST_KEY, keys, out)
            else:
                failure = self.interpreter.run_script(ref, argv, FIRST_KEY, keys, out)
            if failure is not None:
                out.clear()  # of what it has written, nothing is kept
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
