"""Facts of the scripts: how many there are, and what they hold."""

from __future__ import annotations

from typing import NamedTuple

from server.observe.fact import BYTES, COUNT, Facts, counter, gauge, text
from server.observe.memory import human
from server.parts.scripting.scripting import Scripting


class Figures(NamedTuple):
    """What scripts and functions hold, in bytes: the values of Lua, and the texts."""

    script_values: int
    script_texts: int
    function_values: int
    function_texts: int
    scripts: int
    libraries: int
    functions: int

    @property
    def values(self) -> int:
        return self.script_values + self.function_values

    @property
    def texts(self) -> int:
        return self.script_texts + self.function_texts


def figures_of(scripting: Scripting) -> Figures:
    """What is loaded now."""
    return Figures(
        *scripting.memory_of_scripts(), *scripting.memory_of_functions(), *scripting.counts()
    )


MEMORY = Facts[Figures](
    gauge("used_memory_lua", BYTES, lambda held: held.script_values,
          "The values of Lua that scripts hold"),
    gauge("used_memory_vm_eval", BYTES, lambda held: held.script_values,
          "The values of Lua that scripts hold: used_memory_lua has the same"),
    text("used_memory_lua_human", lambda held: human(held.script_values),
         "used_memory_lua, for people"),
    gauge("used_memory_scripts_eval", BYTES, lambda held: held.script_texts,
          "The texts of scripts"),
    gauge("number_of_cached_scripts", COUNT, lambda held: held.scripts, "Scripts that are kept"),
    gauge("number_of_functions", COUNT, lambda held: held.functions, "Functions"),
    gauge("number_of_libraries", COUNT, lambda held: held.libraries, "Libraries of functions"),
    gauge("used_memory_vm_functions", BYTES, lambda held: held.function_values,
          "The values of Lua that functions hold"),
    gauge("used_memory_vm_total", BYTES, lambda held: held.values, "All values of Lua"),
    text("used_memory_vm_total_human", lambda held: human(held.values),
         "used_memory_vm_total, for people"),
    gauge("used_memory_functions", BYTES, lambda held: held.function_texts,
          "The texts of libraries"),
    gauge("used_memory_scripts", BYTES, lambda held: held.texts,
          "The texts of scripts and libraries"),
    text("used_memory_scripts_human", lambda held: human(held.texts),
         "used_memory_scripts, for people"),
)  # fmt: skip

EVICTED = Facts[Scripting](
    counter("evicted_scripts", COUNT, lambda scripting: scripting.evicted,
            "Scripts of EVAL that have made room for others"),
)  # fmt: skip
