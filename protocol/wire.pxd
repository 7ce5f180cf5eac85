# inline only
cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_REFCNT
from libc.math cimport signbit
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memmove

cdef enum:
    MAX_DIGITS = 18
    PLAIN_DIGITS = 9
    MOST_DECIMALS = 6

cdef extern from *:
    """
    #define PENSTOCK_NOT_A_NUMBER INT64_MIN
    """
    PyObject *PyList_GET_ITEM(object words, Py_ssize_t index)  # Cython's takes a reference
    const int64_t NOT_A_NUMBER "PENSTOCK_NOT_A_NUMBER"


# ---------------------------------------------------------------------- cutting

cdef inline bytes cut_bytes(bytes data, Py_ssize_t start, Py_ssize_t end):
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(data) + start, end - start)


cdef inline bytes join(bytes data, Py_ssize_t start, bytearray tail):
    cdef Py_ssize_t rest = PyBytes_GET_SIZE(data) - start
    cdef bytes joined = PyBytes_FromStringAndSize(NULL, rest + PyByteArray_GET_SIZE(tail))
    cdef char *out = PyBytes_AS_STRING(joined)
    memcpy(out, PyBytes_AS_STRING(data) + start, rest)
    memcpy(out + rest, PyByteArray_AS_STRING(tail), PyByteArray_GET_SIZE(tail))
    return joined


cdef inline list room_for(list last, Py_ssize_t count):
    # The two references are the caller's own: its variable, and the attribute that this came from.
    return last if PyList_GET_SIZE(last) == count and Py_REFCNT(last) == 2 else [b""] * count


# ---------------------------------------------------------------------- writing

cdef inline char *write_decimal(char *out, int64_t number) noexcept:
    if number >= 0:
        return write_natural(out, number)
    out[0] = b"-"
    return write_natural(out + 1, 0 - <uint64_t>number)


cdef inline char *write_natural(char *out, uint64_t rest) noexcept:
    cdef char *end
    if rest < 10:
        out[0] = 48 + rest
        return out + 1
    if rest < 100:
        out[0] = 48 + rest // 10
        out[1] = 48 + rest % 10
        return out + 2
    end = out + natural_size(rest)
    out = end
    while rest >= 10:
        out -= 1
        out[0] = 48 + rest % 10
        rest //= 10
    (out - 1)[0] = 48 + rest
    return end


cdef inline char *write_head(char *out, int mark, int64_t number) noexcept:
    out[0] = mark
    return write_crlf(write_decimal(out + 1, number))


cdef inline char *write_crlf(char *out) noexcept:
    out[0] = 13
    out[1] = 10
    return out + 2


cdef inline char *write_bulk(char *out, const char *text, Py_ssize_t size) noexcept:
    out = write_head(out, 36, size)
    memcpy(out, text, size)
    return write_crlf(out + size)


cdef inline Py_ssize_t put_head(
    bytearray buffer, Py_ssize_t at, int mark, int64_t number
) noexcept:
    cdef char *start = PyByteArray_AS_STRING(buffer)
    return write_head(start + at, mark, number) - start


cdef inline Py_ssize_t put_natural(bytearray buffer, Py_ssize_t at, uint64_t number) noexcept:
    cdef char *start = PyByteArray_AS_STRING(buffer)
    return write_natural(start + at, number) - start


cdef inline Py_ssize_t put_bulk(bytearray buffer, Py_ssize_t at, bytes data) noexcept:
    cdef char *start = PyByteArray_AS_STRING(buffer)
    return write_bulk(start + at, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)) - start


cdef inline Py_ssize_t put_bulk_slice(
    bytearray buffer, Py_ssize_t at, bytearray source, Py_ssize_t start, Py_ssize_t size
) noexcept:
    cdef char *out = PyByteArray_AS_STRING(buffer)
    return write_bulk(out + at, PyByteArray_AS_STRING(source) + start, size) - out


cdef inline Py_ssize_t put_bulk_number(
    bytearray buffer, Py_ssize_t at, int64_t number
) noexcept:
    cdef char *start = PyByteArray_AS_STRING(buffer)
    cdef char *out = write_head(start + at, 36, decimal_size(number))
    return write_crlf(write_decimal(out, number)) - start


@cython.cdivision(True)
cdef inline int _decimals_of(double value) noexcept:
    cdef double scale = 1.0
    cdef double scaled
    cdef int decimals
    for decimals in range(1, MOST_DECIMALS + 1):
        scale *= 10.0
        scaled = value * scale
        if scaled >= 4503599627370496.0:  # 2**52
            return 0
        if <double><int64_t>(scaled + 0.5) / scale == value:
            return decimals
    return 0


cdef inline char *_write_decimals(char *out, uint64_t rest, int count) noexcept:
    cdef char *end = out + count
    out = end
    while count > 0:
        out -= 1
        out[0] = 48 + rest % 10
        rest //= 10
        count -= 1
    return end


# A score of 2.5 is 25 tenths: the digits of integers are all that is written.
cdef inline Py_ssize_t put_fraction(
    bytearray buffer, Py_ssize_t at, double value, bint as_bulk
) noexcept:
    cdef char *start = PyByteArray_AS_STRING(buffer)
    cdef char *out = start + at
    cdef bint negative = value < 0.0
    cdef double size = -value if negative else value
    cdef int decimals = _decimals_of(size)
    cdef uint64_t scale = 1
    cdef uint64_t whole = <uint64_t>size
    cdef uint64_t rest
    cdef int i
    if decimals == 0:
        return -1
    for i in range(decimals):
        scale *= 10
    rest = <uint64_t>(size * <double>scale + 0.5) - whole * scale
    if as_bulk:
        out = write_head(out, 36, negative + natural_size(whole) + 1 + decimals)
    else:
        out[0] = 44
        out += 1
    if negative:
        out[0] = 45
        out += 1
    out = write_decimal(out, <int64_t>whole)
    out[0] = 46
    return write_crlf(_write_decimals(out + 1, rest, decimals)) - start


cdef inline bint is_negative(double value) noexcept:
    return signbit(value) != 0


cdef inline Py_ssize_t natural_size(uint64_t number) noexcept:
    cdef Py_ssize_t size = 1
    while number >= 10:
        number //= 10
        size += 1
    return size


cdef inline Py_ssize_t decimal_size(int64_t number) noexcept:
    return natural_size(number) if number >= 0 else 1 + natural_size(0 - <uint64_t>number)


# ---------------------------------------------------------------------- reading

cdef inline Py_ssize_t find(bytes data, int byte, Py_ssize_t start, Py_ssize_t stop) noexcept:
    cdef const char *text = PyBytes_AS_STRING(data)
    cdef Py_ssize_t size = min(stop, PyBytes_GET_SIZE(data)) - start
    cdef const char *found = <const char *>memchr(text + start, byte, size)
    return found - text if found != NULL else -1


cdef inline bint starts_with(bytes data, Py_ssize_t at, bytes head) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(head)
    return (
        PyBytes_GET_SIZE(data) - at >= size
        and memcmp(PyBytes_AS_STRING(data) + at, PyBytes_AS_STRING(head), size) == 0
    )


# Most words are short. Two numbers have all bytes of one, some of them twice.
cdef inline bint _same_bytes(const char *one, const char *other, Py_ssize_t size) noexcept:
    cdef uint64_t[4] long_ones
    cdef uint32_t[4] short_ones
    if size > 16:
        return memcmp(one, other, size) == 0
    if size >= 8:
        memcpy(&long_ones[0], one, 8)
        memcpy(&long_ones[1], other, 8)
        memcpy(&long_ones[2], one + size - 8, 8)
        memcpy(&long_ones[3], other + size - 8, 8)
        return long_ones[0] == long_ones[1] and long_ones[2] == long_ones[3]
    if size >= 4:
        memcpy(&short_ones[0], one, 4)
        memcpy(&short_ones[1], other, 4)
        memcpy(&short_ones[2], one + size - 4, 4)
        memcpy(&short_ones[3], other + size - 4, 4)
        return short_ones[0] == short_ones[1] and short_ones[2] == short_ones[3]
    if size == 0:
        return True
    return (
        one[0] == other[0]
        and one[size >> 1] == other[size >> 1]
        and one[size - 1] == other[size - 1]
    )


cdef inline bint is_there(bytes data, Py_ssize_t at, int64_t length, bytes word) noexcept:
    return (
        PyBytes_GET_SIZE(word) == length
        and PyBytes_GET_SIZE(data) - at >= length
        and _same_bytes(PyBytes_AS_STRING(data) + at, PyBytes_AS_STRING(word), length)
    )


# The word is borrowed: nothing is called while it is looked at.
cdef inline bint has_word(
    list words, Py_ssize_t index, bytes data, Py_ssize_t at, int64_t length
) noexcept:
    cdef PyObject *word
    if index >= PyList_GET_SIZE(words):
        return False
    word = PyList_GET_ITEM(words, index)
    return PyBytes_CheckExact(<object>word) and is_there(data, at, length, <bytes>word)


cdef inline int64_t read_number(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept:
    cdef const char *text = PyBytes_AS_STRING(data)
    cdef int64_t number = 0
    cdef Py_ssize_t size = end - start
    cdef bint negative = size > 0 and text[start] == 45
    cdef Py_ssize_t at = start + negative
    if at >= end or end - at > MAX_DIGITS or (text[at] == 48 and size > 1):
        return NOT_A_NUMBER
    while at < end:
        if not 48 <= text[at] <= 57:
            return NOT_A_NUMBER
        number = number * 10 + (text[at] - 48)
        at += 1
    return -number if negative else number


# It stops at the end because CPython puts a zero byte after the last one of each bytes object.
cdef inline int64_t read_plain_head(bytes data, Py_ssize_t at, int mark) noexcept:
    cdef const char *text = PyBytes_AS_STRING(data) + at
    cdef int64_t number
    cdef int size = 2
    if text[0] != mark or not 48 <= text[1] <= 57:
        return -1
    number = text[1] - 48
    if text[2] == 13:  # as most often
        return number if text[3] == 10 else -1
    if number == 0:
        return -1
    while 48 <= text[size] <= 57 and size <= PLAIN_DIGITS:
        number = number * 10 + (text[size] - 48)
        size += 1
    return number if text[size] == 13 and text[size + 1] == 10 else -1


cdef inline Py_ssize_t plain_head_size(int64_t number) noexcept:
    return natural_size(number) + 3
