"""The scripts that EVAL and SCRIPT LOAD have brought, by the SHA-1 of their text.

Scripts that came by EVAL are bounded in number, since many clients write values into the text of
theirs: the one that was used least recently goes. That defends the server against its clients. What
SCRIPT LOAD has brought stays until SCRIPT FLUSH (redis.io, "Scripting with Lua", since Redis 7.4).
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha1

from protocol.replies import ErrorReply
from server.parts.scripting.header import read_script_header
from server.parts.scripting.lua.interpreter import Interpreter, LuaError
from server.parts.scripting.script import SHA_CHARACTERS, Script, ScriptTable

MOST_BY_EVAL = 500
SCRIPT_BYTES = 200  # of a script besides its text: the objects that know it


class ScriptCache(ScriptTable):
    """The scripts of *interpreter*."""

    __slots__ = ("_by_eval", "_by_sha", "_by_source", "_interpreter", "_last", "evicted", "memory")

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._by_sha: dict[bytes, Script] = {}
        self._by_source: dict[bytes, Script] = {}  # so that no SHA-1 is computed for each EVAL
        self._by_eval: OrderedDict[bytes, Script] = OrderedDict()  # least recently used first
        self._last: Script | None = None  # the one that was used last: it may be used in a row
        self.evicted = 0
        self.memory = 0  # bytes of the texts

    def __len__(self) -> int:
        return len(self._by_sha)

    def known_by(self, sha: bytes) -> Script | None:
        last = self._last
        if last is not None and sha == last.sha:
            return last
        script = self._by_sha.get(sha)
        if script is None and len(sha) == SHA_CHARACTERS:
            script = self._by_sha.get(sha.lower())
        if script is not None:
            self._used(script)
        return script

    def compiled(self, source: bytes) -> Script:
        last = self._last
        if last is not None and source == last.source:
            return last
        script = self._by_source.get(source)
        if script is None:
            script = self._add(source)
            self._by_eval[script.sha] = script
            if len(self._by_eval) > MOST_BY_EVAL:
                _, oldest = self._by_eval.popitem(last=False)
                del self._by_sha[oldest.sha], self._by_source[oldest.source]
                self._interpreter.forget(oldest.ref)
                self.memory -= len(oldest.source) + SCRIPT_BYTES
                self.evicted += 1
        self._used(script)
        return script

    def load(self, source: bytes) -> Script:
        """Keep the script of that text. Raises ErrorReply if it cannot be compiled."""
        script = self._by_source.get(source) or self._add(source)
        if not script.is_loaded:
            script.is_loaded = True
            self._by_eval.pop(script.sha, None)
        return script

    def clear(self) -> None:
        """Forget all of them; the interpreter goes with them."""
        self._by_sha.clear()
        self._by_source.clear()
        self._by_eval.clear()
        self._last = None
        self.memory = 0

    def _used(self, script: Script) -> None:
        if not script.is_loaded:
            self._by_eval.move_to_end(script.sha)
        self._last = script

    def _add(self, source: bytes) -> Script:
        header = read_script_header(source)
        try:
            ref = self._interpreter.compile(source[header.start :], b"@user_script")
        except LuaError as error:
            raise ErrorReply("ERR", f"Error compiling script (new function): {error}") from None
        sha = sha1(source, usedforsecurity=False).hexdigest().encode()
        script = Script(sha, source, ref, header.flags)
        self._by_sha[sha] = self._by_source[source] = script
        self.memory += len(source) + SCRIPT_BYTES
        return script
