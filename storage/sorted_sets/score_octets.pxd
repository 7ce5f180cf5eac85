# inline only
from cpython.bytearray cimport (
    PyByteArray_AS_STRING,
    PyByteArray_GET_SIZE,
    PyByteArray_Resize,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcmp, memcpy, memmove

cdef enum:
    MARK = 16
    LONG = 128  # the size of a longer text has 31 bits: LONGEST_MEMBER in leaf.py is 29 of them

cdef struct Mark:
    double score
    uint32_t tag
    uint32_t place


cdef inline Mark *_mark(bytearray marks, Py_ssize_t at) noexcept:
    return <Mark *>PyByteArray_AS_STRING(marks) + at


# ---------------------------------------------------------------------- marks

cdef inline Py_ssize_t count(bytearray marks) noexcept:
    return PyByteArray_GET_SIZE(marks) // MARK


cdef inline double score_at(bytearray marks, Py_ssize_t at) noexcept:
    return _mark(marks, at).score


cdef inline uint32_t tag_at(bytearray marks, Py_ssize_t at) noexcept:
    return _mark(marks, at).tag


cdef inline uint32_t place_at(bytearray marks, Py_ssize_t at) noexcept:
    return _mark(marks, at).place


cdef inline int put_mark(
    bytearray marks, Py_ssize_t at, double score, uint32_t tag, uint32_t place
) noexcept:
    cdef Mark *mark = _mark(marks, at)
    mark.score = score
    mark.tag = tag
    mark.place = place
    return 0


cdef inline int put_score(bytearray marks, Py_ssize_t at, double score) noexcept:
    _mark(marks, at).score = score
    return 0


cdef inline int put_place(bytearray marks, Py_ssize_t at, uint32_t place) noexcept:
    _mark(marks, at).place = place
    return 0


cdef inline int insert_mark(
    bytearray marks, Py_ssize_t at, double score, uint32_t tag, uint32_t place
) except -1:
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks)
    cdef Mark *mark
    PyByteArray_Resize(marks, size + MARK)
    mark = _mark(marks, at)
    memmove(mark + 1, mark, size - at * MARK)
    mark.score = score
    mark.tag = tag
    mark.place = place
    return 0


cdef inline int remove_marks(bytearray marks, Py_ssize_t first, Py_ssize_t end) except -1:
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks)
    memmove(_mark(marks, first), _mark(marks, end), size - end * MARK)
    PyByteArray_Resize(marks, size - (end - first) * MARK)
    return 0


cdef inline Py_ssize_t find_tag(bytearray marks, Py_ssize_t first, uint32_t tag) noexcept:
    cdef const Mark *mark = _mark(marks, 0)
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks) // MARK
    while first < size and mark[first].tag != tag:
        first += 1
    return first


# ---------------------------------------------------------------------- texts

cdef inline Py_ssize_t text_space(Py_ssize_t size) noexcept:
    return size + (1 if size < LONG else 4)


cdef inline Py_ssize_t put_text(bytearray data, Py_ssize_t at, bytes text) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
    cdef uint8_t *out = <uint8_t *>PyByteArray_AS_STRING(data) + at
    if size < LONG:
        out[0] = <uint8_t>size
        out += 1
    else:
        out[0] = <uint8_t>(0x80 | size >> 24)
        out[1] = <uint8_t>(size >> 16)
        out[2] = <uint8_t>(size >> 8)
        out[3] = <uint8_t>size
        out += 4
    memcpy(out, PyBytes_AS_STRING(text), size)
    return at + text_space(size)


cdef inline Py_ssize_t text_start(bytearray data, Py_ssize_t at) noexcept:
    return at + (1 if (<uint8_t *>PyByteArray_AS_STRING(data))[at] < LONG else 4)


cdef inline Py_ssize_t text_size(bytearray data, Py_ssize_t at) noexcept:
    cdef const uint8_t *text = <const uint8_t *>PyByteArray_AS_STRING(data) + at
    if text[0] < LONG:
        return text[0]
    return (<Py_ssize_t>(text[0] & 0x7F) << 24) | (text[1] << 16) | (text[2] << 8) | text[3]


cdef inline int order(bytearray data, Py_ssize_t at, bytes text) noexcept:
    cdef Py_ssize_t size = text_size(data, at)
    cdef Py_ssize_t other = PyBytes_GET_SIZE(text)
    cdef int found = memcmp(
        PyByteArray_AS_STRING(data) + text_start(data, at),
        PyBytes_AS_STRING(text),
        size if size < other else other,
    )
    if found != 0:
        return 1 if found > 0 else -1
    return (size > other) - (size < other)
