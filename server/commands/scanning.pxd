from server.args cimport Args
from server.call cimport Call
