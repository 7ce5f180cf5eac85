from server.dispatch.call cimport Call
from server.client.client cimport Client
