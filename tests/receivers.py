"""Finds method calls in the C of the core that nobody holds the receiver of.

``python -m tests.receivers`` lists all calls whose receiver is an attribute, once for each module,
receiver and method, and says of each why it is safe; it fails if one is not.

    function's signature, variables      __pyx_v_self: struct __pyx_obj_..._Connection
    structs                              Connection._parser: struct __pyx_obj_..._RequestParser
    a call                               ...)->feed(__pyx_v_self->_parser, __pyx_v_data, 0)

A receiver that is a variable is held by it; those of a generator lie in its ``__pyx_cur_scope``.
One that is an attribute must be reached from a variable through fixed attributes alone
(build_core/fixed_attributes.py): then it lives as long as the variable's object. All others must
have been put into a temporary variable, which build_core/held_receivers.py sees to. This check
reads the C only, so that it also finds what Cython does in another way than was thought.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from build_core.fixed_attributes import FixedAttributes
from build_core.modules import PACKAGES

C_FILES = Path("build/cython")
GENERATOR = "__pyx_cur_scope"  # what has the variables of a generator, which holds it

_STRUCT = re.compile(r"^struct (__pyx_obj_\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"struct (__pyx_obj_\w+) \*?(\w+);")
_VARIABLE = re.compile(r"struct (__pyx_obj_\w+) \*(__pyx_(?:[vt]_?\w+|cur_scope))")
_CALL = re.compile(r"(?:->__pyx_vtab\)->|__pyx_f_\w*?)(\w+)\((?=[\w(])")
_CAST = re.compile(r"\(\(struct (__pyx_obj_\w+) \*\)([^()]*)\)")
_PATH = re.compile(r"__pyx_\w+(?:(?:->|\.)\w+)+")
_MODULE_VARIABLE = re.compile(r"__pyx_v_\d\w+")
_MANGLED = re.compile(r"\d+")


@dataclass(frozen=True)
class Call:
    """A method call: its module, the path of attributes to its receiver, and the method."""

    module: str
    receiver: str
    method: str
    is_safe: bool

    def __str__(self) -> str:
        reason = "fixed, and so held by its owner" if self.is_safe else "NOT HELD"
        return f"{self.module}: {self.receiver}.{self.method}(): {reason}"


def calls(c: str, module: str, fixed: FixedAttributes) -> Iterator[Call]:
    """The calls in *c* whose receiver is an attribute, or a variable of a module."""
    structs = {name: dict(map(reversed, _FIELD.findall(body))) for name, body in _STRUCT.findall(c)}
    methods = set(re.findall(r"__pyx_f_\w+(?=\(struct __pyx_obj_\w+ \*__pyx_v_self\b)", c))
    variables: dict[str, str] = {}
    for line in c.splitlines():
        if line.startswith("static ") and line.endswith("{"):
            variables = {}
        if "struct __pyx_obj_" in line:  # to look for a word is quicker than for a pattern
            variables.update((name, struct) for struct, name in _VARIABLE.findall(line))
        if "__pyx_vtab)->" not in line and "__pyx_f_" not in line:
            continue
        for found in _CALL.finditer(line):
            if found[0].startswith("__pyx_f_") and found[0].rstrip("(") not in methods:
                continue
            receiver = _without_casts(_first_argument(line, found.end()))
            if _PATH.fullmatch(receiver) or _MODULE_VARIABLE.fullmatch(receiver):
                is_safe = _is_fixed(receiver, variables, structs, fixed)
                yield Call(module, _readable(receiver), _last_name(found[1]), is_safe)


def _first_argument(line: str, start: int) -> str:
    """The text from *start* to the comma or parenthesis that ends an argument."""
    depth = 0
    for at in range(start, len(line)):
        if line[at] in "([":
            depth += 1
        elif line[at] in ")]" and depth:
            depth -= 1
        elif line[at] in ",)" and not depth:
            return line[start:at]
    return line[start:]


def _without_casts(expression: str) -> str:
    while (cast := _CAST.fullmatch(expression)) is not None:
        expression = cast[2]
    return expression


def _is_fixed(
    path: str,
    variables: dict[str, str],
    structs: dict[str, dict[str, str]],
    fixed: FixedAttributes,
) -> bool:
    """Whether each attribute of *path* is fixed, in the class that declares it."""
    first, *rest = re.split(r"->|\.", path)
    struct = variables.get(first)
    if not rest or struct is None:
        return False
    for name in rest:
        if name not in structs.get(struct, {}):
            return False
        is_variable = name == "__pyx_base" or struct == variables.get(GENERATOR)
        if not is_variable and not fixed.has(_last_name(struct), name):
            return False
        struct = structs[struct][name]
    return True


def _last_name(mangled: str) -> str:
    """``__pyx_obj_8protocol_8requests_RequestParser``: RequestParser."""
    rest = mangled.removeprefix("__pyx_obj_")
    while (length := _MANGLED.match(rest)) is not None:
        rest = rest[length.end() + int(length[0]) + 1 :]
    return rest


def _readable(path: str) -> str:
    words = [word for word in re.split(r"->|\.", path) if word not in ("__pyx_base", GENERATOR)]
    return ".".join([re.sub(r"^__pyx_[vt]_?", "", words[0]), *words[1:]])


def all_calls() -> set[Call]:
    """The calls in the C of all modules, which must have been built."""
    fixed = FixedAttributes(PACKAGES)
    return {
        call
        for c_file in C_FILES.rglob("*.c")
        for call in calls(
            c_file.read_text(),
            ".".join(c_file.relative_to(C_FILES).with_suffix("").parts),
            fixed,
        )
    }


def main() -> int:
    """Print all calls, those that are not held last. Return 1 if there are any of these."""
    found = sorted(all_calls(), key=lambda call: (not call.is_safe, str(call)))
    print("\n".join(map(str, found)))
    faults = sum(not call.is_safe for call in found)
    print(f"{len(found)} calls to an attribute's methods, {faults} of them not held")
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main())
