"""The registers of a HyperLogLog all at once: the plain versions of the C functions.

*registers* has a byte for each register; *dense* is a HyperLogLog in the dense form, whose 16384
registers of 6 bits follow its header (storage/strings/hyperloglog.py). Compiled, four registers are
taken from three bytes, or put there, by shifts of whole words; where the machine has AVX2, 32 at a
time.
"""

from __future__ import annotations

HEADER = 16  # bytes
REGISTERS = 16384
VALUES = 64


def merge_dense(registers: bytearray, dense: bytearray) -> None:
    """Let each of *registers*, which are below 64, be what it is in *dense* at least."""
    at = HEADER
    for index in range(0, REGISTERS, 4):
        word = dense[at] | dense[at + 1] << 8 | dense[at + 2] << 16
        at += 3
        for offset in range(4):
            value = word >> 6 * offset & 63
            registers[index + offset] = max(registers[index + offset], value)


def write_dense(dense: bytearray, registers: bytearray) -> None:
    """Let the registers of *dense* be *registers*, which are below 64."""
    at = HEADER
    for index in range(0, REGISTERS, 4):
        one, two, three, four = registers[index : index + 4]
        word = one | two << 6 | three << 12 | four << 18
        dense[at : at + 3] = word.to_bytes(3, "little")
        at += 3


def tally(registers: bytearray) -> list[int]:
    """How many of *registers*, which are below 64, have each of the 64 values."""
    return [registers.count(value) for value in range(VALUES)]
