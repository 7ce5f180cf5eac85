# inline only
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF


cdef inline PyObject* link_to(object target) noexcept:
    return NULL if target is None else <PyObject*>target


cdef inline object follow(PyObject* link):
    return None if link == NULL else <object>link


cdef inline int hold(object target) noexcept:
    Py_INCREF(target)
    return 0


cdef inline int let_go(object target) noexcept:
    Py_DECREF(target)
    return 0
