"""A client as the server knows it, whatever socket it has."""
