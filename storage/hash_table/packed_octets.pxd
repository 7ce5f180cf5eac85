# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcmp

from octets cimport buffers
from storage cimport octets

cdef extern from "Python.h":
    ctypedef struct PyListObject:
        PyObject **ob_item
        Py_ssize_t allocated

cdef extern from *:
    void penstock_prefetch_object "__builtin_prefetch" (const void *address) nogil

cdef enum:
    FAR_FROM = 512  # so the size of any other text has nine bits
    FAR = 0xFF
    FAR_SIZE = 5
    LONG = 128
    LIST = 64
    PLACE = 8


cdef inline Py_ssize_t space_of(Py_ssize_t size) noexcept:
    if size < LONG:
        return 1 + size
    return 2 + size if size < FAR_FROM else FAR_SIZE


cdef inline bint is_far(bytearray data, Py_ssize_t at) noexcept:
    return (<uint8_t *>PyByteArray_AS_STRING(data))[at] == FAR


cdef inline uint32_t number_of(bytearray data, Py_ssize_t at) noexcept:
    return octets.u32(data, at + 1)


cdef inline Py_ssize_t start_of(bytearray data, Py_ssize_t at) noexcept:
    return at + 1 if (<uint8_t *>PyByteArray_AS_STRING(data))[at] < LONG else at + 2


cdef inline Py_ssize_t size_of(bytearray data, Py_ssize_t at) noexcept:
    cdef const uint8_t *text = <const uint8_t *>PyByteArray_AS_STRING(data) + at
    return text[0] if text[0] < LONG else (text[0] & 1) << 8 | text[1]


cdef inline Py_ssize_t behind(bytearray data, Py_ssize_t at) noexcept:
    cdef const uint8_t *text = <const uint8_t *>PyByteArray_AS_STRING(data) + at
    if text[0] < LONG:
        return at + 1 + text[0]
    if text[0] == FAR:
        return at + FAR_SIZE
    return at + 2 + ((text[0] & 1) << 8 | text[1])


cdef inline Py_ssize_t put_text(bytearray data, Py_ssize_t at, bytes text) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
    if size < LONG:
        at = octets.put_u8(data, at, size)
    else:
        at = octets.put_u8(data, at, 0x80 | size >> 8)
        at = octets.put_u8(data, at, size)
    return buffers.put(data, at, text)


cdef inline Py_ssize_t put_far(bytearray data, Py_ssize_t at, uint32_t number) noexcept:
    return octets.put_u32(data, octets.put_u8(data, at, FAR), number)


cdef inline bytes text_at(bytearray data, Py_ssize_t at, list far):
    cdef Py_ssize_t start
    if is_far(data, at):
        return <bytes>(<PyListObject *>far).ob_item[number_of(data, at)]
    start = start_of(data, at)
    return buffers.cut(data, start, start + size_of(data, at))


cdef inline bint is_text(bytearray data, Py_ssize_t at, list far, bytes text) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
    cdef PyObject *found
    if is_far(data, at):
        found = (<PyListObject *>far).ob_item[number_of(data, at)]
        return PyBytes_GET_SIZE(<object>found) == size and memcmp(
            PyBytes_AS_STRING(<object>found), PyBytes_AS_STRING(text), size
        ) == 0
    return size_of(data, at) == size and memcmp(
        PyByteArray_AS_STRING(data) + start_of(data, at), PyBytes_AS_STRING(text), size
    ) == 0


cdef inline Py_ssize_t list_room(list far) noexcept:
    if far is None:
        return 0
    return LIST + PLACE * (<PyListObject *>far).allocated


cdef inline int prefetch(bytearray data) noexcept:
    penstock_prefetch_object(<PyObject *>data)
    return 0


cdef inline int prefetch_all(list far) noexcept:
    cdef Py_ssize_t number
    if far is not None:
        for number in range(PyList_GET_SIZE(far)):
            penstock_prefetch_object((<PyListObject *>far).ob_item[number])
    return 0
