"""Making room: keys and clients that go, and small values that are packed."""
