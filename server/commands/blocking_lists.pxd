from server cimport args, list_steps
from server.args cimport Args
from server.call cimport Call
from storage.quicklist cimport QuickList


cdef object _pop(Call call, bint left)
