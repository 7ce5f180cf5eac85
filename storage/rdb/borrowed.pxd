# inline only
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from storage.rdb cimport raw

cdef extern from *:
    """
    #define penstock_class_of(value) ((PyObject *)Py_TYPE(value))
    """
    PyObject *penstock_class_of(PyObject *value) noexcept

cdef extern from "Python.h":
    bint PyBytes_CheckExact(PyObject *value) noexcept
    bint PyLong_CheckExact(PyObject *value) noexcept
    char *PyBytes_AS_STRING(PyObject *text) noexcept
    Py_ssize_t PyBytes_GET_SIZE(PyObject *text) noexcept
    int64_t PyLong_AsLongLong(PyObject *value) except? -1

ctypedef PyObject *Borrowed


cdef inline PyObject *nothing() noexcept:
    return NULL


cdef inline bint is_nothing(PyObject *value) noexcept:
    return value == NULL


cdef inline PyObject *of(object value) noexcept:
    return <PyObject *>value


cdef inline object held(PyObject *value):
    return <object>value


cdef inline PyObject *class_of(PyObject *value) noexcept:
    return penstock_class_of(value)


cdef inline bint is_bytes(PyObject *value) noexcept:
    return PyBytes_CheckExact(value)


cdef inline bint is_int(PyObject *value) noexcept:
    return PyLong_CheckExact(value)


cdef inline raw.Raw octets(PyObject *text) noexcept:
    return <raw.Raw>PyBytes_AS_STRING(text)


cdef inline Py_ssize_t size(PyObject *text) noexcept:
    return PyBytes_GET_SIZE(text)


cdef inline int64_t number(PyObject *value) except? -1:
    return PyLong_AsLongLong(value)
