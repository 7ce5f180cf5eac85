"""Feed hostile bytes to the request parser.

``python -m fuzz.request_parser -max_total_time=60`` does so for a minute.

Any exception but ProtocolError is a bug. So is an empty command, memory out of proportion to the
bytes that have come, and a result that depends on how the bytes are cut into pieces. The plain
Python guides the fuzzer, since compiled code cannot; the compiled module, if there is one, must
agree with it.
"""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from types import FunctionType, ModuleType
from typing import Any

from fuzz import engine
from fuzz.engine import ROOT

with engine.instrument_imports(include=["protocol"]):
    from protocol import inline, wire  # noqa: F401  never compiled: the fuzzer sees into them
    from protocol import requests as as_built
    from protocol.encoder import Encoder

MOST = 64  # bytes held for each byte that has come


def load_plain() -> ModuleType:
    """protocol.requests from its source, even if it has been compiled."""
    spec = spec_from_file_location("plain_requests", ROOT / "protocol" / "requests.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, function in list(vars(module.RequestParser).items()):
        if isinstance(function, FunctionType):
            setattr(module.RequestParser, name, engine.instrument_func(function))
    return module


plain = load_plain()


def outcome(
    module: Any, pieces: list[bytes], authenticated: bool, runs: bool = False
) -> tuple[list[list[bytes]], str | None]:
    """The commands in *pieces*, and the error after them; with *runs*, move_alike is used."""
    parser = module.RequestParser()
    parser.authenticated = authenticated
    commands: list[list[bytes]] = []
    come = 0
    try:
        for piece in pieces:
            parser.feed(piece)
            come += len(piece)
            while (argv := parser.take()) is not None:
                assert argv, "an empty command"
                commands.append(argv)
                if runs:
                    commands += run_behind(parser, argv)
            assert parser.buffered() <= come * MOST, "more is held than has come"
    except module.ProtocolError as error:
        return commands, str(error)
    return commands, None


def run_behind(parser: Any, argv: list[bytes]) -> list[list[bytes]]:
    """The commands like *argv* that come next, moved in one piece."""
    out = Encoder()
    count = parser.move_alike(argv, out)
    run = outcome(as_built, [out.take()], authenticated=True)[0]
    assert len(run) == count, "what was moved is something else"
    return run


def test_one(data: bytes) -> None:
    """The fuzzer's entry. Byte 0 says how to cut the others; bit 0, who sends them."""
    if not data:
        return
    step, authenticated, sent = data[0] // 2 + 1, bool(data[0] & 1), data[1:]
    pieces = [sent[at : at + step] for at in range(0, len(sent), step)]
    whole = outcome(plain, [sent], authenticated)
    assert outcome(plain, pieces, authenticated) == whole, "the cut made a difference"
    assert outcome(as_built, [sent], authenticated) == whole, "compiled, it differs"
    assert outcome(as_built, pieces, authenticated) == whole, "compiled and cut, it differs"
    for module in (plain, as_built):
        assert outcome(module, pieces, authenticated, runs=True) == whole, "runs made a difference"


SEEDS = (
    b"\xff*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n",
    b"\xff" + b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n" * 4 + b"*2\r\n$3\r\nGET\r\n$1\r\nj\r\n",
    b"\x07SET \"a \\x00b\" 'c d'\r\n\r\nPING\n",
    b"\x06*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n",
    b"\xff*2\r\n$4\r\nECHO\r\n$33000\r\n" + b"x" * 33_000 + b"\r\n",
)

if __name__ == "__main__":
    engine.run(test_one, "request_parser", SEEDS)
