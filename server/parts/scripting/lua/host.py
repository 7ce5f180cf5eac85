"""What scripts can ask of the server that runs them."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply


class Host:
    """Runs the commands of one script, and knows what it has chosen."""

    __slots__ = ("ended_at", "fault", "resp")

    def __init__(self) -> None:
        self.ended_at = b""  # ``user_script:1: ``: where the script was when it was ended
        self.fault: BaseException | None = None  # in a command: the server cannot go on
        self.resp = 2  # the protocol in which the script gets replies: redis.setresp

    def call(self, words: list[bytes]) -> Reply:
        """Run a command as redis.call does; an error is a value."""
        raise NotImplementedError

    def may_call(self, words: list[bytes]) -> bool | None:
        """redis.acl_check_cmd: whether the user may; None if there is no such command."""
        raise NotImplementedError

    def error_returned(self, error: ErrorReply, is_counted: bool) -> None:
        """*error* is part of what the script returns; *is_counted*: a command of it gave it."""
        raise NotImplementedError

    def log(self, level: int, text: bytes) -> None:
        """redis.log: 0 for debug, 3 for a warning."""
        raise NotImplementedError

    def cpu_s(self) -> float:
        """os.clock: the CPU time of the process, in s."""
        raise NotImplementedError

    def must_end(self) -> bool:
        """Asked every so many instructions: whether the script must be ended."""
        raise NotImplementedError

    def register(
        self, name: bytes, ref: int, flags: list[bytes], description: bytes | None
    ) -> None:
        """redis.register_function, while a library is loaded. Raises ErrorReply."""
        raise NotImplementedError
