# inline only
from cpython.object cimport PyObject, PyTypeObject

from storage.listpack.listpack cimport Listpack
from storage.lists.node_deque cimport NodeDeque
from storage.lists.quicklist cimport QuickList

cdef extern from "Python.h":
    bint Py_IS_TYPE(PyObject *value, PyTypeObject *kind) noexcept


cdef inline PyObject *only_listpack(PyObject *value) noexcept:
    cdef PyObject *head
    if <PyObject *>(<QuickList>value)._nodes != <PyObject *>None:
        return NULL
    head = <PyObject *>(<QuickList>value)._head
    return head if Py_IS_TYPE(head, <PyTypeObject *>Listpack) else NULL
