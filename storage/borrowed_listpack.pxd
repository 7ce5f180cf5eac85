# inline only
from cpython.object cimport PyObject

from storage.listpack.listpack cimport Listpack
from storage.rdb cimport raw

cdef extern from "Python.h":
    char *PyByteArray_AS_STRING(PyObject *data) noexcept


cdef inline raw.Raw octets(PyObject *pack) noexcept:
    return <raw.Raw>PyByteArray_AS_STRING(<PyObject *>(<Listpack>pack).data)


cdef inline Py_ssize_t size(PyObject *pack) noexcept:
    return (<Listpack>pack).size
