"""XADD and its options; what is added later, what expires."""
