"""The parts that the state of the server is made of, a folder a subject."""
