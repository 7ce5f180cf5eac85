cimport cython

from storage.value_type cimport ValueType


@cython.locals(rows=dict, row=ValueType)
cpdef ValueType of_class(type kind)
@cython.locals(rows=dict, row=ValueType)
cpdef bint packs(type kind) except -1
@cython.locals(row=ValueType)
cpdef ValueType of_number(int number)
@cython.locals(row=ValueType)
cpdef ValueType of_rdb_code(int code, bytes key)
