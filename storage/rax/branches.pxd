# inline only
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from libc.stdint cimport uint16_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from storage cimport allocation


# Edges are different bytes: there are 256 of them at most, and room for no more.
cdef struct Branches:
    uint16_t count
    uint16_t capacity
    uint16_t bare
    uint16_t unused


cdef inline PyObject** _children(Branches* branches) noexcept:
    return <PyObject**>(branches + 1)


cdef inline unsigned char* _edges(Branches* branches) noexcept:
    return <unsigned char*>(_children(branches) + branches.capacity)


cdef inline Py_ssize_t _size(Py_ssize_t capacity) noexcept:
    return sizeof(Branches) + 9 * capacity


cdef inline Py_ssize_t _capacity_for(Py_ssize_t wanted) noexcept:
    # from 16 on an eighth more than wanted; then rounded up to a multiple of 16 bytes
    cdef Py_ssize_t size = _size(wanted + (wanted >> 3 if wanted >= 16 else 0))
    cdef Py_ssize_t capacity = (((size + 15) & ~15) - sizeof(Branches)) // 9
    return 256 if capacity > 256 else capacity


cdef inline Branches* _resize(Branches* branches, Py_ssize_t capacity) except NULL:
    # the edges are after the room of the children: they move before a shrink, and after a growth
    cdef unsigned char* edges
    cdef Branches* resized
    cdef Py_ssize_t before = branches.capacity
    if capacity < before:
        edges = _edges(branches)
        memmove(_children(branches) + capacity, edges, branches.count)
    resized = <Branches*>PyMem_Realloc(branches, _size(capacity))
    if resized is NULL:
        if capacity < before:
            memmove(edges, _children(branches) + capacity, branches.count)
        raise MemoryError
    resized.capacity = capacity
    allocation.used += _size(capacity) - _size(before)
    if capacity > before:
        memmove(_edges(resized), _children(resized) + before, resized.count)
    return resized


cdef inline Branches* none() noexcept:
    return NULL


cdef inline Py_ssize_t count(Branches* branches) noexcept:
    return 0 if branches is NULL else branches.count


cdef inline Py_ssize_t place(Branches* branches, unsigned char byte) noexcept:
    cdef Py_ssize_t low = 0, high, middle
    cdef unsigned char* edges
    if branches is NULL:
        return 0
    high = branches.count
    edges = _edges(branches)
    if edges[high - 1] < byte:
        return high
    while low < high:
        middle = (low + high) >> 1
        if edges[middle] < byte:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline Py_ssize_t find(Branches* branches, unsigned char byte) noexcept:
    # a first guess: if the edges have no gaps, the index is the distance from the first edge
    cdef unsigned char* edges
    cdef unsigned char* found
    cdef Py_ssize_t guess
    if branches is NULL:
        return -1
    edges = _edges(branches)
    guess = <Py_ssize_t>byte - edges[0]
    if 0 <= guess < branches.count and edges[guess] == byte:
        return guess
    found = <unsigned char*>memchr(edges, byte, branches.count)
    return -1 if found is NULL else found - edges


cdef inline unsigned char edge(Branches* branches, Py_ssize_t index) noexcept:
    return _edges(branches)[index]


cdef inline object child(Branches* branches, Py_ssize_t index):
    return <object>_children(branches)[index]


cdef inline void put(Branches* branches, Py_ssize_t index, object new) noexcept:
    cdef PyObject* old = _children(branches)[index]
    Py_INCREF(new)
    _children(branches)[index] = <PyObject*>new
    Py_DECREF(<object>old)


cdef inline Branches* insert(
    Branches* branches, Py_ssize_t index, unsigned char byte, object new
) except NULL:
    cdef PyObject** children
    cdef unsigned char* edges
    cdef Py_ssize_t capacity, behind
    if branches is NULL:
        capacity = _capacity_for(1)
        branches = <Branches*>PyMem_Malloc(_size(capacity))
        if branches is NULL:
            raise MemoryError
        allocation.used += _size(capacity)
        branches.count = 0
        branches.bare = 0
        branches.capacity = capacity
    elif branches.count == branches.capacity:
        branches = _resize(branches, _capacity_for(branches.count + 1))
    behind = branches.count - index
    children = _children(branches) + index
    edges = _edges(branches) + index
    if behind:
        memmove(children + 1, children, behind * sizeof(PyObject*))
        memmove(edges + 1, edges, behind)
    Py_INCREF(new)
    children[0] = <PyObject*>new
    edges[0] = byte
    branches.count += 1
    return branches


cdef inline Branches* remove(Branches* branches, Py_ssize_t index) except? NULL:
    cdef PyObject** children = _children(branches) + index
    cdef unsigned char* edges = _edges(branches) + index
    cdef PyObject* old = children[0]
    cdef Py_ssize_t behind = branches.count - index - 1, fitting
    if behind:
        memmove(children, children + 1, behind * sizeof(PyObject*))
        memmove(edges, edges + 1, behind)
    branches.count -= 1
    if branches.count == 0:
        allocation.used -= _size(branches.capacity)
        PyMem_Free(branches)
        branches = NULL
    else:
        fitting = _capacity_for(branches.count)
        if fitting + (fitting >> 2) + 1 < branches.capacity:
            branches = _resize(branches, fitting)
    Py_DECREF(<object>old)
    return branches


cdef inline void free(Branches* branches) noexcept:
    cdef Py_ssize_t index
    if branches is not NULL:
        for index in range(branches.count):
            Py_DECREF(<object>_children(branches)[index])
        allocation.used -= _size(branches.capacity)
        PyMem_Free(branches)


cdef inline Py_ssize_t bare(Branches* branches) noexcept:
    return 0 if branches is NULL else branches.bare


cdef inline void count_bare(Branches* branches, int change) noexcept:
    branches.bare += change


cdef inline Py_ssize_t weight(Branches* branches) noexcept:
    return 0 if branches is NULL else _size(branches.capacity)


cdef inline PyObject* hold(object value) noexcept:
    Py_INCREF(value)
    return <PyObject*>value


cdef inline object held(PyObject* reference):
    return <object>reference


cdef inline void let_go(PyObject* reference) noexcept:
    Py_XDECREF(reference)


cdef inline Py_ssize_t shared(bytes run, bytes key, Py_ssize_t at) noexcept:
    cdef const char* left = PyBytes_AS_STRING(run)
    cdef const char* right = PyBytes_AS_STRING(key) + at
    cdef Py_ssize_t length = PyBytes_GET_SIZE(run), n = 0
    if PyBytes_GET_SIZE(key) - at < length:
        length = PyBytes_GET_SIZE(key) - at
    while n < length and left[n] == right[n]:
        n += 1
    return n


cdef inline bint is_rest(bytes run, bytes key, Py_ssize_t at) noexcept:
    cdef Py_ssize_t length = PyBytes_GET_SIZE(run)
    return (
        length == PyBytes_GET_SIZE(key) - at
        and memcmp(PyBytes_AS_STRING(run), PyBytes_AS_STRING(key) + at, length) == 0
    )


cdef inline int order(bytes run, bytes key, Py_ssize_t at) noexcept:
    cdef Py_ssize_t left = PyBytes_GET_SIZE(run), right = PyBytes_GET_SIZE(key) - at
    cdef int difference = memcmp(
        PyBytes_AS_STRING(run), PyBytes_AS_STRING(key) + at, left if left < right else right
    )
    if difference == 0:
        return (left > right) - (left < right)
    return difference


cdef inline bytes cut(bytes text, Py_ssize_t start, Py_ssize_t end):
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(text) + start, end - start)


cdef inline bytes joined(bytes path, unsigned char byte, bytes run):
    cdef Py_ssize_t before = PyBytes_GET_SIZE(path), behind = PyBytes_GET_SIZE(run)
    cdef bytes made = PyBytes_FromStringAndSize(NULL, before + 1 + behind)
    cdef char* to = PyBytes_AS_STRING(made)
    memcpy(to, PyBytes_AS_STRING(path), before)
    to[before] = byte
    memcpy(to + before + 1, PyBytes_AS_STRING(run), behind)
    return made
