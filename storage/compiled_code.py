"""Nothing, in plain Python. Compiled, it has the functions of Cython's own that the compiled
modules share: see build_core/shared_code.py.
"""
