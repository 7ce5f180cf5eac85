# inline only
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libc.string cimport memcpy

cdef enum:
    HEADER = 8


cdef inline Py_ssize_t width_of(bytes data) noexcept:
    return (<const uint32_t *>PyBytes_AS_STRING(data))[0]


cdef inline Py_ssize_t length_of(bytes data) noexcept:
    return (<const uint32_t *>PyBytes_AS_STRING(data))[1]


cdef inline int64_t number_at(bytes data, Py_ssize_t width, Py_ssize_t index) noexcept:
    cdef const char *numbers = PyBytes_AS_STRING(data) + HEADER
    if width == 2:
        return (<const int16_t *>numbers)[index]
    if width == 4:
        return (<const int32_t *>numbers)[index]
    return (<const int64_t *>numbers)[index]


cdef inline int _put_number(
    char *numbers, Py_ssize_t width, Py_ssize_t index, int64_t number
) noexcept:
    if width == 2:
        (<int16_t *>numbers)[index] = <int16_t>number
    elif width == 4:
        (<int32_t *>numbers)[index] = <int32_t>number
    else:
        (<int64_t *>numbers)[index] = number
    return 0


cdef inline bytes inserted(bytes data, Py_ssize_t width, Py_ssize_t index, int64_t number):
    cdef Py_ssize_t length = length_of(data)
    cdef Py_ssize_t old_width = width_of(data)
    cdef Py_ssize_t i
    cdef bytes made = PyBytes_FromStringAndSize(NULL, HEADER + (length + 1) * width)
    cdef char *out = PyBytes_AS_STRING(made)
    cdef const char *numbers = PyBytes_AS_STRING(data) + HEADER
    (<uint32_t *>out)[0] = <uint32_t>width
    (<uint32_t *>out)[1] = <uint32_t>(length + 1)
    out += HEADER
    if width == old_width:
        memcpy(out, numbers, index * width)
        memcpy(out + (index + 1) * width, numbers + index * width, (length - index) * width)
    else:
        for i in range(length):
            _put_number(out, width, i + (i >= index), number_at(data, old_width, i))
    _put_number(out, width, index, number)
    return made


cdef inline bytes without(bytes data, Py_ssize_t index):
    cdef Py_ssize_t width = width_of(data)
    cdef Py_ssize_t head = HEADER + index * width
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data) - width
    cdef bytes made = PyBytes_FromStringAndSize(NULL, size)
    cdef char *out = PyBytes_AS_STRING(made)
    memcpy(out, PyBytes_AS_STRING(data), head)
    memcpy(out + head, PyBytes_AS_STRING(data) + head + width, size - head)
    (<uint32_t *>out)[1] -= 1
    return made
