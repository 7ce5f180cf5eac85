"""A method call holds its receiver, where nobody else is sure to.

For ``self._endpoint.resume_writing()`` Cython by itself takes no reference to the endpoint. If what
is called closes the client, the attribute is cleared, and the endpoint is freed while its method
still runs. Here the receiver of such a call is put into a temporary variable first, which owns a
reference until the call is over. That costs two or three instructions, and 0.3 % of the machine
code.

A receiver needs none if somebody holds it for as long as the call lasts:

    local.call()             the local variable or the argument; an argument is held by the caller
    make().call()            the temporary variable that Cython has for a result
    local.a.b.call()         the local variable's object, if a and b are fixed: fixed_attributes.py

By induction every running method's ``self`` is held by its caller. ``tests/receivers.py`` reads the
C and finds what is called without.
"""

from __future__ import annotations

from typing import Any

from Cython.Compiler.ExprNodes import CloneNode, SimpleCallNode

from build_core.fixed_attributes import FixedAttributes

# Cython's nodes have no types.
Node = Any
Env = Any


def hold_receivers(fixed: FixedAttributes) -> None:
    """Let Cython hold receivers, from now on, in this process and its forks."""
    analyse = SimpleCallNode.analyse_c_function_call

    def analyse_and_hold(call: Node, env: Env) -> None:
        receiver = call.self
        if receiver is not None and _may_go(receiver, fixed) and not env.nogil:
            call.self = receiver.coerce_to_temp(env)
            call.function.obj = CloneNode(call.self)
        analyse(call, env)

    SimpleCallNode.analyse_c_function_call = analyse_and_hold


def _may_go(receiver: Node, fixed: FixedAttributes) -> bool:
    """Whether *receiver* may lose its last reference while a method of it runs."""
    if not receiver.type.is_pyobject or receiver.nonlocally_immutable():
        return False
    if receiver.is_attribute and receiver.obj.type.is_extension_type:
        owner = receiver.entry.scope.parent_type.name
        return not fixed.has(owner, receiver.attribute) or _may_go(receiver.obj, fixed)
    return True
