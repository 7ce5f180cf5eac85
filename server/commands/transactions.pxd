from server.call cimport Call
from server.client cimport Client
