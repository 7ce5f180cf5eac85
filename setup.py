"""What pyproject.toml cannot say: how a wheel is made, see build_core/wheel.py."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).parent))

from build_core.wheel import CarryApplication, CompiledWheel

setup(cmdclass={"build_py": CarryApplication, "bdist_wheel": CompiledWheel})
