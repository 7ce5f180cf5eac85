"""What runs scripts and functions for clients. It is known without Lua, which may not be loaded."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.client.client import Client

FIRST_KEY = 3  # where the keys begin in EVAL script numkeys [key ...] [arg ...], and in FCALL


class Engine:
    """Runs what was compiled."""

    __slots__ = ()

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
        """Run what *ref* refers to for *client*, whose command is *argv*: its result.

        So many *keys* are among its words. The result is there until the next one runs. Raises
        ErrorReply. What the script has chosen (database, protocol) ends with it.
        """
        raise NotImplementedError
