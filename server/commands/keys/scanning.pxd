from server.table.args cimport Args
from server.dispatch.call cimport Call
