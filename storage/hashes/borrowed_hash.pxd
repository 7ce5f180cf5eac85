# inline only
from cpython.object cimport PyObject

from storage.hashes.hash cimport Hash


cdef inline PyObject *pack_of(PyObject *value) noexcept:
    cdef PyObject *pack = <PyObject *>(<Hash>value).pack
    return pack if pack != <PyObject *>None else NULL


cdef inline PyObject *table_of(PyObject *value) noexcept:
    cdef PyObject *table = <PyObject *>(<Hash>value).table
    return table if table != <PyObject *>None else NULL
