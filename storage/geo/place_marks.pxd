# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport llrint
from libc.stdint cimport int64_t
from libc.string cimport memcpy

cdef enum:
    MARK = 24

cdef struct Mark:
    double distance
    double score
    int64_t spot


cdef inline Mark *_mark(bytearray marks, Py_ssize_t at) noexcept:
    return <Mark *>PyByteArray_AS_STRING(marks) + at


cdef inline int put(
    bytearray marks, Py_ssize_t at, double distance, double score, int64_t spot
) noexcept:
    cdef Mark *mark = _mark(marks, at)
    mark.distance = distance
    mark.score = score
    mark.spot = spot
    return 0


cdef inline double distance_at(bytearray marks, Py_ssize_t at) noexcept:
    return _mark(marks, at).distance


cdef inline double score_at(bytearray marks, Py_ssize_t at) noexcept:
    return _mark(marks, at).score


cdef inline int64_t spot_at(bytearray marks, Py_ssize_t at) noexcept:
    return _mark(marks, at).spot


cdef inline int order(bytearray marks, Py_ssize_t one, Py_ssize_t other) noexcept:
    cdef double first = _mark(marks, one).distance
    cdef double second = _mark(marks, other).distance
    return (first > second) - (first < second)


cdef inline int swap(bytearray marks, Py_ssize_t one, Py_ssize_t other) noexcept:
    cdef Mark held = _mark(marks, one)[0]
    _mark(marks, one)[0] = _mark(marks, other)[0]
    _mark(marks, other)[0] = held
    return 0


cdef inline int copy(
    bytearray target, Py_ssize_t at, bytearray source, Py_ssize_t start, Py_ssize_t count
) noexcept:
    memcpy(_mark(target, at), _mark(source, start), count * sizeof(Mark))
    return 0


cdef inline bytes distance_text(double distance):
    cdef char text[24]
    cdef int64_t number = llrint(distance * 10000.0)
    cdef Py_ssize_t at = 24
    while at > 20:
        at -= 1
        text[at] = <char>(48 + number % 10)
        number = number // 10
    at -= 1
    text[at] = c"."
    while at == 19 or number:
        at -= 1
        text[at] = <char>(48 + number % 10)
        number = number // 10
    return PyBytes_FromStringAndSize(text + at, 24 - at)
