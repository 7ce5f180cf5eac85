# inline only
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from storage.stream.pending cimport Pending


cdef inline PyObject* link_to(Pending target) noexcept:
    return NULL if target is None else <PyObject*>target


cdef inline Pending follow(PyObject* link):
    if link == NULL:
        return None
    return <Pending>link


cdef inline int hold(object target) noexcept:
    Py_INCREF(target)
    return 0


cdef inline int let_go(object target) noexcept:
    Py_DECREF(target)
    return 0
