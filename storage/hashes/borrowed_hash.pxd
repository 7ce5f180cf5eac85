# inline only
from cpython.object cimport PyObject

from storage.hashes.hash cimport Hash
from storage.listpack.listpack cimport Listpack
from storage.rdb cimport raw

cdef extern from "Python.h":
    char *PyByteArray_AS_STRING(PyObject *data) noexcept


cdef inline PyObject *pack_of(PyObject *value) noexcept:
    cdef PyObject *pack = <PyObject *>(<Hash>value).pack
    return pack if pack != <PyObject *>None else NULL


cdef inline PyObject *table_of(PyObject *value) noexcept:
    cdef PyObject *table = <PyObject *>(<Hash>value).table
    return table if table != <PyObject *>None else NULL


cdef inline raw.Raw listpack_octets(PyObject *pack) noexcept:
    return <raw.Raw>PyByteArray_AS_STRING(<PyObject *>(<Listpack>pack).data)


cdef inline Py_ssize_t listpack_size(PyObject *pack) noexcept:
    return (<Listpack>pack).size
