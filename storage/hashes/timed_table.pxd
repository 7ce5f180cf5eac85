cimport cython

from storage cimport allocation
from storage.hash_table.packed_table cimport PackedTable
from storage.hashes.timed_fields cimport TimedFields
from storage.rax.rax cimport Rax

cdef int TIME
cdef int OBJECT


@cython.final
cdef class TimedTable(TimedFields):
    cdef readonly PackedTable table
    cdef readonly PackedTable times
    cdef readonly Rax order
