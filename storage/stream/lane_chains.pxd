# inline only
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, PyTypeObject
from libc.stdint cimport uint64_t
from libc.stdlib cimport free as give_back, realloc

from storage.stream.lane cimport Lane
from storage.stream.pending cimport LanePending

cdef extern from "Python.h":
    PyTypeObject *type_of "Py_TYPE"(PyObject *item) noexcept

ctypedef PyObject **Chains


cdef inline PyObject *end() noexcept:
    return <PyObject *>None


cdef inline bint is_only(PyObject *item) noexcept:
    return type_of(item) == <PyTypeObject *>LanePending


cdef inline PyObject **link_of(PyObject *item) noexcept:
    if is_only(item):
        return &(<LanePending>item).in_chain
    return &(<Lane>item).in_chain


cdef inline uint64_t number_of(PyObject *item) noexcept:
    return (<LanePending>item).lane if is_only(item) else (<Lane>item).number


cdef inline Chains none() noexcept:
    return NULL


cdef inline Chains resized(Chains chains, Py_ssize_t size) except NULL:
    cdef Chains moved = <Chains>realloc(chains, size * sizeof(PyObject *))
    if moved == NULL:
        raise MemoryError
    return moved


cdef inline int free(Chains chains) noexcept:
    give_back(chains)
    return 0


cdef inline int begin(Chains chains, Py_ssize_t chain) noexcept:
    chains[chain] = end()
    return 0


cdef inline object find(Chains chains, Py_ssize_t chain, uint64_t number):
    cdef PyObject *item = chains[chain]
    while item != end() and number_of(item) != number:
        item = link_of(item)[0]
    return <object>item


cdef inline bint has(Chains chains, Py_ssize_t chain, uint64_t number) noexcept:
    cdef PyObject *item = chains[chain]
    while item != end() and number_of(item) != number:
        item = link_of(item)[0]
    return item != end()


cdef inline int put(Chains chains, Py_ssize_t chain, object item) except -1:
    cdef PyObject **link
    if not isinstance(item, (LanePending, Lane)):
        raise ValueError("this item cannot be put into a chain")
    link = link_of(<PyObject *>item)
    if link[0] != NULL:
        raise ValueError("this item cannot be put into a chain")
    link[0] = chains[chain]
    chains[chain] = <PyObject *>item
    Py_INCREF(item)
    return 0


cdef inline bint take(Chains chains, Py_ssize_t chain, object item) noexcept:
    cdef PyObject **held = &chains[chain]
    cdef PyObject **link
    while held[0] != end():
        link = link_of(held[0])
        if held[0] == <PyObject *>item:
            held[0] = link[0]
            link[0] = NULL
            Py_DECREF(item)
            return True
        held = link
    return False


cdef inline object first(Chains chains, Py_ssize_t chain):
    return <object>chains[chain]


cdef inline int list_all(Chains chains, Py_ssize_t chain, list found) except -1:
    cdef PyObject *item = chains[chain]
    while item != end():
        found.append(<object>item)
        item = link_of(item)[0]
    return 0


cdef inline int move(Chains chains, Py_ssize_t chain, Py_ssize_t other, uint64_t bit) noexcept:
    cdef PyObject *item = chains[chain]
    cdef PyObject *following
    cdef Py_ssize_t to
    chains[chain] = end()
    while item != end():
        following = link_of(item)[0]
        to = other if number_of(item) & bit else chain
        link_of(item)[0] = chains[to]
        chains[to] = item
        item = following
    return 0
