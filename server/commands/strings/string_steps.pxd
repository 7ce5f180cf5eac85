from server.dispatch.call cimport Call

cpdef bytes text_of(object value)
cpdef Py_ssize_t length_of(object value) except -1
cpdef put(Call call, bytes key, bytes value)
cpdef object octets_of(object value)
cpdef bytearray padded(Call call, bytes key, object value, Py_ssize_t size)
cpdef object to_bit_offset(Call call, bytes text, int width=*)
