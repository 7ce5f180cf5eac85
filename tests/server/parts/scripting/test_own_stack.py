"""The side stack that is a stack of C; test_long_scripts.py has more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.client.origin import CLIENT
from server.parts.scripting.own_stack import OwnStack
from server.parts.scripting.side_stack import CommandRunner
from tests.worth import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="uncompiled, there are greenlets only")

ROUNDS = 300


@pytest.fixture
def runner(server: Any) -> CommandRunner:
    runner: CommandRunner = server.dispatcher.long_scripts
    return runner


@pytest.fixture
def stack(runner: CommandRunner) -> OwnStack:
    return OwnStack(runner)


def run(server: Any, stack: OwnStack, command: Any) -> Any:
    return stack.run(server.owner.client, command, [b"there"], CLIENT)


def test_a_command_runs_there_and_its_reply_comes_back(
    server: Any, declare: Any, stack: OwnStack
) -> None:
    command = declare("there", lambda call: call.argv[0])
    for _ in range(ROUNDS):
        assert run(server, stack, command) == b"there"
    assert not stack.is_suspended()


def test_what_is_raised_there_is_raised_where_it_was_entered(
    server: Any, declare: Any, stack: OwnStack
) -> None:
    def interrupted(call: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(server, stack, declare("there", interrupted))
    assert run(server, stack, declare("again", lambda call: 1)) == 1


def test_it_is_not_left_while_a_function_of_python_runs_there(
    server: Any, declare: Any, stack: OwnStack
) -> None:
    assert run(server, stack, declare("there", lambda call: int(stack.suspend()))) == 0
    assert not stack.is_suspended()


def test_nobody_leaves_it_who_is_not_there(stack: OwnStack) -> None:
    assert not stack.suspend()


def test_functions_of_python_may_call_each_other_deeply_there(
    server: Any, declare: Any, stack: OwnStack
) -> None:
    def deep(levels: int) -> int:
        return levels and 1 + next(map(deep, [levels - 1]))

    assert run(server, stack, declare("there", lambda call: deep(200))) == 200


def test_its_memory_is_given_back(server: Any, declare: Any, runner: CommandRunner) -> None:
    command = declare("there", lambda call: 1)
    run(server, OwnStack(runner), command)
    before = len(Path("/proc/self/maps").read_text().splitlines())
    for _ in range(ROUNDS):
        run(server, OwnStack(runner), command)
    assert len(Path("/proc/self/maps").read_text().splitlines()) < before + ROUNDS
