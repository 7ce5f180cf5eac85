from server.dispatch.call cimport Call

cpdef bytes text_of(object value)
cpdef Py_ssize_t length_of(object value) except -1
cpdef put(Call call, bytes key, bytes value)
