# inline only
from cpython.bytearray cimport (
    PyByteArray_AS_STRING,
    PyByteArray_FromStringAndSize,
    PyByteArray_GET_SIZE,
    PyByteArray_Resize,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport (
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memcmp, memcpy, memmove

# A bytearray may begin beyond the start of its memory: that is how CPython removes bytes from the
# front without moving the others. Here such room is also used to put bytes before the first one.
cdef extern from *:
    """
    #define penstock_room_before(b) \
        (((PyByteArrayObject *)(b))->ob_start - ((PyByteArrayObject *)(b))->ob_bytes)
    #define penstock_capacity(b) (((PyByteArrayObject *)(b))->ob_alloc)
    static inline int penstock_shift_start(PyObject *b, Py_ssize_t by) {
        PyByteArrayObject *array = (PyByteArrayObject *)b;
        array->ob_start += by;
        Py_SET_SIZE(array, Py_SIZE(array) - by);
        return 0;
    }
    /* Longer than this, memory is given back. */
    enum { PENSTOCK_LITTLE = 256 };
    static inline int penstock_shorten(PyObject *b, Py_ssize_t size) {
        PyByteArrayObject *array = (PyByteArrayObject *)b;
        if (array->ob_alloc > PENSTOCK_LITTLE)
            return PyByteArray_Resize(b, size);
        if (array->ob_start)
            array->ob_start[size] = 0;
        Py_SET_SIZE(array, size);
        return 0;
    }
    #if PY_BIG_ENDIAN
    #error "storage keeps numbers as little-endian machines do"
    #endif
    #define penstock_be64(n) __builtin_bswap64(n)
    #define penstock_mul_high(a, b) ((uint64_t)((unsigned __int128)(a) * (b) >> 64))
    """
    Py_ssize_t penstock_room_before(bytearray buffer) noexcept
    Py_ssize_t penstock_capacity(bytearray buffer) noexcept
    int penstock_shift_start(bytearray buffer, Py_ssize_t by) except -1
    int penstock_shorten(bytearray buffer, Py_ssize_t size) except -1
    uint64_t penstock_be64(uint64_t number) noexcept nogil
    uint64_t penstock_mul_high(uint64_t a, uint64_t b) noexcept nogil
    int leading_zeros "__builtin_clzll" (unsigned long long number) noexcept nogil

cdef enum:
    MAX_INT_TEXT = 20


# ---------------------------------------------------------------------- room

cdef inline bytearray bytearray_of(bytes data):
    return PyByteArray_FromStringAndSize(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef inline Py_ssize_t capacity(bytearray buffer) noexcept:
    return penstock_capacity(buffer)


cdef inline int shorten(bytearray buffer, Py_ssize_t size) except -1:
    return penstock_shorten(buffer, size)


cdef inline int open_front(bytearray buffer, Py_ssize_t used, Py_ssize_t size) except -1:
    cdef Py_ssize_t room
    cdef char *data
    if penstock_room_before(buffer) < size:
        room = size + min((used + size) >> 1, <Py_ssize_t>65536)
        PyByteArray_Resize(buffer, used + room)
        data = PyByteArray_AS_STRING(buffer)
        memmove(data + room, data, used)
        penstock_shift_start(buffer, room)
    return penstock_shift_start(buffer, -size)


cdef inline int drop_front(bytearray buffer, Py_ssize_t size) except -1:
    return penstock_shift_start(buffer, size)


cdef inline bytearray exact(bytearray buffer, Py_ssize_t size):
    return PyByteArray_FromStringAndSize(PyByteArray_AS_STRING(buffer), size)


# ---------------------------------------------------------------------- runs of bytes

cdef inline bint holds(bytearray buffer, Py_ssize_t at, bytes data) noexcept:
    return memcmp(
        PyByteArray_AS_STRING(buffer) + at, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
    ) == 0


# ---------------------------------------------------------------------- binary numbers

cdef inline uint16_t u16(bytearray buffer, Py_ssize_t at) noexcept:
    cdef uint16_t number
    memcpy(&number, PyByteArray_AS_STRING(buffer) + at, 2)
    return number


cdef inline uint32_t u32(bytearray buffer, Py_ssize_t at) noexcept:
    cdef uint32_t number
    memcpy(&number, PyByteArray_AS_STRING(buffer) + at, 4)
    return number


cdef inline int16_t i16(bytearray buffer, Py_ssize_t at) noexcept:
    return <int16_t>u16(buffer, at)


cdef inline int32_t i24(bytearray buffer, Py_ssize_t at) noexcept:
    cdef uint32_t low = u16(buffer, at)
    cdef int8_t high = (<int8_t *>PyByteArray_AS_STRING(buffer))[at + 2]
    return <int32_t>high * 65536 + <int32_t>low


cdef inline int32_t i32(bytearray buffer, Py_ssize_t at) noexcept:
    return <int32_t>u32(buffer, at)


cdef inline int64_t i64(bytearray buffer, Py_ssize_t at) noexcept:
    cdef int64_t number
    memcpy(&number, PyByteArray_AS_STRING(buffer) + at, 8)
    return number


cdef inline Py_ssize_t put_u8(bytearray buffer, Py_ssize_t at, int64_t number) noexcept:
    (<uint8_t *>PyByteArray_AS_STRING(buffer))[at] = <uint8_t>number
    return at + 1


cdef inline Py_ssize_t put_u16(bytearray buffer, Py_ssize_t at, int64_t number) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + at, &number, 2)
    return at + 2


cdef inline Py_ssize_t put_u24(bytearray buffer, Py_ssize_t at, int64_t number) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + at, &number, 3)
    return at + 3


cdef inline Py_ssize_t put_u32(bytearray buffer, Py_ssize_t at, int64_t number) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + at, &number, 4)
    return at + 4


cdef inline Py_ssize_t put_i64(bytearray buffer, Py_ssize_t at, int64_t number) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + at, &number, 8)
    return at + 8


cdef inline uint64_t u64_be(bytes data, Py_ssize_t at) noexcept:
    cdef uint64_t number
    memcpy(&number, PyBytes_AS_STRING(data) + at, 8)
    return penstock_be64(number)


# ---------------------------------------------------------------------- decimal numbers

cdef inline uint64_t mul_high(uint64_t a, uint64_t b) noexcept:
    return penstock_mul_high(a, b)


cdef inline uint64_t swapped(uint64_t number) noexcept:
    return penstock_be64(number)


cdef inline bint is_digits(const char *text, Py_ssize_t size) noexcept:
    cdef Py_ssize_t at
    if size == 0:
        return False
    for at in range(size):
        if not 48 <= text[at] <= 57:
            return False
    return True


cdef inline uint64_t value_of(const char *digits, Py_ssize_t size) noexcept:
    cdef uint64_t number = 0
    cdef Py_ssize_t at
    for at in range(size):
        number = number * 10 + <uint64_t>(digits[at] - 48)
    return number


cdef inline bint is_int64(bytes text) noexcept:
    cdef const char *digits = PyBytes_AS_STRING(text)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
    cdef bint negative
    if size == 0 or size > MAX_INT_TEXT:
        return False
    negative = digits[0] == 45
    digits += negative
    size -= negative
    if not is_digits(digits, size):
        return False
    if digits[0] == 48:
        return size == 1 and not negative
    if size < 19:
        return True
    if size > 19:
        return False
    return memcmp(digits, b"9223372036854775808", 19) < (1 if negative else 0)


cdef inline int64_t short_number(bytes text) noexcept:
    cdef const char *digits = PyBytes_AS_STRING(text)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
    cdef int64_t number = 0
    cdef unsigned int digit
    cdef Py_ssize_t at
    if size == 0 or size > 18 or (digits[0] == 48 and size > 1):
        return -1
    for at in range(size):
        digit = <unsigned char>digits[at] - 48
        if digit > 9:
            return -1
        number = number * 10 + digit
    return number


cdef inline int64_t int64_of(bytes text) noexcept:
    cdef const char *digits = PyBytes_AS_STRING(text)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
    if digits[0] == 45:
        return <int64_t>(0 - value_of(digits + 1, size - 1))
    return <int64_t>value_of(digits, size)


cdef inline Py_ssize_t write_unsigned(char *out, uint64_t number) noexcept:
    cdef char digits[20]
    cdef int first = 20
    while number >= 10:
        first -= 1
        digits[first] = <char>(48 + number % 10)
        number //= 10
    first -= 1
    digits[first] = <char>(48 + number)
    memcpy(out, digits + first, 20 - first)
    return 20 - first


cdef inline Py_ssize_t write_signed(char *out, int64_t number) noexcept:
    if number >= 0:
        return write_unsigned(out, <uint64_t>number)
    out[0] = 45
    return 1 + write_unsigned(out + 1, 0 - <uint64_t>number)


cdef inline bytes decimal(int64_t number):
    cdef char text[MAX_INT_TEXT]
    return PyBytes_FromStringAndSize(text, write_signed(text, number))


# ---------------------------------------------------------------------- stream ids

cdef inline bint same_letters(bytes text, bytes capitals) noexcept:
    cdef const uint8_t *p = <const uint8_t *>PyBytes_AS_STRING(text)
    cdef const uint8_t *q = <const uint8_t *>PyBytes_AS_STRING(capitals)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(text)
    cdef uint32_t[2] given
    cdef uint32_t[2] wanted
    cdef Py_ssize_t i
    if size != PyBytes_GET_SIZE(capitals):
        return False
    # Most words have four to eight letters, and come in capitals: two numbers have them all.
    if 4 <= size <= 8:
        memcpy(&given[0], p, 4)
        memcpy(&given[1], p + size - 4, 4)
        memcpy(&wanted[0], q, 4)
        memcpy(&wanted[1], q + size - 4, 4)
        if given[0] == wanted[0] and given[1] == wanted[1]:
            return True
    for i in range(size):
        if (p[i] - 32 if 97 <= p[i] <= 122 else p[i]) != q[i]:
            return False
    return True


cdef inline bytes format_id(uint64_t ms, uint64_t seq):
    cdef char text[2 * MAX_INT_TEXT + 1]
    cdef Py_ssize_t size = write_unsigned(text, ms)
    text[size] = 45
    size += 1
    size += write_unsigned(text + size, seq)
    return PyBytes_FromStringAndSize(text, size)


cdef inline int64_t id_delta(uint64_t number, uint64_t base) noexcept:
    return <int64_t>(number - base)


cdef inline uint64_t id_plus(uint64_t base, int64_t gap) noexcept:
    return base + <uint64_t>gap


cdef inline bytes id_key(uint64_t ms, uint64_t seq):
    cdef uint64_t[2] key
    key[0] = penstock_be64(ms)
    key[1] = penstock_be64(seq)
    return PyBytes_FromStringAndSize(<char *>key, 16)


# ---------------------------------------------------------------------- numbers

cdef inline int64_t since(int64_t then_ms, int64_t now_ms) noexcept:
    # Unsigned numbers wrap around by definition.
    return id_delta(<uint64_t>now_ms, <uint64_t>then_ms)


cdef inline int bit_length(uint64_t number) noexcept:
    return 64 - leading_zeros(number) if number else 0
