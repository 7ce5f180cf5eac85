from server.commands.strings cimport string_steps
from server.dispatch.call cimport Call
from storage cimport allocation
from storage.keyspace.keyspace cimport Keyspace
from storage.strings cimport hyperloglog

cpdef object checked(object value)
cpdef bytearray opened(object value)
cpdef store(Call call, bytes key, object value, bytearray data, Py_ssize_t before)
cpdef bytearray registers_of(bytearray data)
