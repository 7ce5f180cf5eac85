"""Every method call in the compiled core has a receiver that somebody holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from build_core.fixed_attributes import FixedAttributes
from tests import receivers
from tests.worth import SLOW

ROOT = Path(__file__).parents[1]

PY = """
class Endpoint:
    def resume(self): pass

class Once:
    def __init__(self, endpoint):
        self.fixed = endpoint
        self.replaced = endpoint
        self.set_elsewhere = endpoint
        def later():
            self.set_later = endpoint

    def replace(self):
        self.replaced = None

def made(endpoint):
    one = Once.__new__(Once)
    one.fixed = endpoint
    return one

def change(one):
    one.set_elsewhere = None

class Heir(Once):
    def replace(self):
        self.of_an_heir = None
"""

# What Cython itself makes of such calls, but for the lines between.
C = """
struct __pyx_obj_4near_3end_Endpoint {
  PyObject_HEAD
};
struct __pyx_obj_4near_4once_Once {
  PyObject_HEAD
  struct __pyx_obj_4near_3end_Endpoint *fixed;
  struct __pyx_obj_4near_3end_Endpoint *replaced;
};
static void __pyx_f_4near_3end_8Endpoint_final(struct __pyx_obj_4near_3end_Endpoint *__pyx_v_self);
static PyObject *__pyx_f_4near_4once_4Once_run(struct __pyx_obj_4near_4once_Once *__pyx_v_self) {
  struct __pyx_obj_4near_3end_Endpoint *__pyx_v_held = NULL;
  ((struct V *)__pyx_v_held->__pyx_vtab)->resume(__pyx_v_held, 0);
  ((struct V *)__pyx_v_self->fixed->__pyx_vtab)->resume(__pyx_v_self->fixed, 0);
  ((struct V *)__pyx_v_self->replaced->__pyx_vtab)->resume(__pyx_v_self->replaced, 0);
  __pyx_f_4near_3end_8Endpoint_final(__pyx_v_self->replaced);
}
"""


@pytest.fixture
def fixed(tmp_path: Path) -> FixedAttributes:
    (tmp_path / "once.py").write_text(PY)
    return FixedAttributes([str(tmp_path)])


def test_an_attribute_that_only_its_making_sets_is_fixed(fixed: FixedAttributes) -> None:
    assert fixed.has("Once", "fixed")


@pytest.mark.parametrize("name", ["replaced", "set_elsewhere", "set_later", "of_an_heir"])
def test_an_attribute_that_anything_else_sets_is_not(fixed: FixedAttributes, name: str) -> None:
    assert not fixed.has("Once", name)


def test_an_attribute_that_an_inline_function_sets_is_not(tmp_path: Path) -> None:
    (tmp_path / "inline.pxd").write_text("cdef inline void f(Once one):\n    one.fixed = None\n")
    assert not FixedAttributes([str(tmp_path)]).has("Once", "fixed")


def test_calls_that_nobody_holds_the_receiver_of_are_found(fixed: FixedAttributes) -> None:
    found = {(call.receiver, call.method): call.is_safe for call in receivers.calls(C, "m", fixed)}
    assert found == {
        ("self.fixed", "resume"): True,
        ("self.replaced", "resume"): False,
        ("self.replaced", "final"): False,
    }


@pytest.mark.skipif(SLOW, reason="the C is that of the usual build")
def test_every_receiver_in_the_core_is_held() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.receivers"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
