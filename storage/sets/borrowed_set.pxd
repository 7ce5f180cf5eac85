# inline only
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int32_t, int64_t, uint8_t

from storage.listpack.listpack cimport Listpack
from storage.rdb cimport raw
from storage.sets.member_set cimport MemberSet

cdef extern from "Python.h":
    char *PyByteArray_AS_STRING(PyObject *data) noexcept
    bint Py_IS_TYPE(PyObject *value, PyTypeObject *kind) noexcept

cdef enum:
    NUMBER = -1

cdef struct Member:
    raw.Raw octets
    Py_ssize_t size
    int64_t number
    Py_ssize_t next


cdef inline PyObject *members(PyObject *value) noexcept:
    return <PyObject *>(<MemberSet>value).members


cdef inline bint is_listpack(PyObject *found) noexcept:
    return Py_IS_TYPE(found, <PyTypeObject *>Listpack)


cdef inline PyObject *of(object value) noexcept:
    return <PyObject *>value


cdef inline Py_ssize_t length(PyObject *pack) noexcept:
    return (<Listpack>pack).count


# The encodings of storage/listpack/element_octets.py, read without touching a reference count.
cdef inline int64_t _number_at(const uint8_t *head) noexcept:
    cdef int64_t number
    if head[0] < 0x80:
        return head[0]
    if head[0] < 0xE0:
        number = (head[0] & 0x1F) << 8 | head[1]
        return number - 0x2000 if number >= 0x1000 else number
    if head[0] == 0xF1:
        number = raw.u16(<raw.Raw>head, 1)
        return number - 0x10000 if number >= 0x8000 else number
    if head[0] == 0xF2:
        number = head[3] << 16 | raw.u16(<raw.Raw>head, 1)
        return number - 0x1000000 if number >= 0x800000 else number
    if head[0] == 0xF3:
        return <int32_t>raw.u32(<raw.Raw>head, 1)
    return raw.i64(<raw.Raw>head, 1)


cdef inline Py_ssize_t _number_size(const uint8_t *head) noexcept:
    if head[0] < 0x80:
        return 1
    if head[0] < 0xE0:
        return 2
    return 9 if head[0] == 0xF4 else head[0] - 0xF1 + 3


cdef inline Py_ssize_t _backlen_size(Py_ssize_t size) noexcept:
    if size <= 127:
        return 1
    if size < 16383:
        return 2
    if size < 2097151:
        return 3
    return 4 if size < 268435455 else 5


cdef inline Member member_at(PyObject *pack, Py_ssize_t at) noexcept:
    cdef const uint8_t *data = <const uint8_t *>PyByteArray_AS_STRING(
        <PyObject *>(<Listpack>pack).data
    )
    cdef const uint8_t *head = data + at
    cdef Py_ssize_t before
    cdef Py_ssize_t size
    cdef Member member
    member.number = 0
    member.octets = <raw.Raw>head
    if 0x80 <= head[0] < 0xC0:
        before = 1
        member.size = head[0] & 0x3F
    elif 0xE0 <= head[0] < 0xF0:
        before = 2
        member.size = <Py_ssize_t>(head[0] & 0x0F) << 8 | head[1]
    elif head[0] == 0xF0:
        before = 5
        member.size = raw.u32(<raw.Raw>head, 1)
    else:
        before = _number_size(head)
        member.size = NUMBER
        member.number = _number_at(head)
    member.octets = <raw.Raw>(head + before)
    size = before if member.size == NUMBER else before + member.size
    member.next = at + size + _backlen_size(size)
    if data[member.next] == 0xFF:
        member.next = -1
    return member
