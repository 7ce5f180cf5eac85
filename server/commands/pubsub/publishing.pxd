from server.dispatch.call cimport Call
