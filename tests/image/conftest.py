"""The image, built as users build it, and an engine to run it.

Where there is no engine and none can be started, these tests are skipped, in CI too: the machines
that run it may have none. ``PENSTOCK_IMAGE`` names an image that exists already.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.image.container import Runner
from tests.image.engine import ROOT, Engine, NoEngine, find_or_start

OFFICIAL_BASE, OFFICIAL_PYTHON = "python:3.11-slim-bookworm", "cp311"
OWN_BASE = "penstock-base"
IMAGE = "penstock-test"
PULL_S, BASE_S, BUILD_S = 120, 600, 1200


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    try:
        engine = find_or_start()
    except NoEngine as error:
        pytest.skip(f"The image is not tested: {error}")
    try:
        yield engine
    finally:
        engine.stop()


@pytest.fixture(scope="session")
def image(engine: Engine) -> str:
    """The name of the image; it is built with the wheel that ``make wheel`` has put into dist/."""
    if os.environ.get("PENSTOCK_IMAGE"):
        return os.environ["PENSTOCK_IMAGE"]
    words = ["make", "image", f"IMAGE={IMAGE}", f"BASE={base(engine)}", "BUILD=--network host"]
    built = engine.call(*words, *(f"WHEEL={wheel}" for wheel in newest_wheel()), timeout_s=BUILD_S)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    return IMAGE


def base(engine: Engine) -> str:
    """An official Python image, or one made of Debian's packages where no registry is reached."""
    if engine.run("pull", "--quiet", OFFICIAL_BASE, timeout_s=PULL_S).returncode == 0:
        return OFFICIAL_BASE
    made = engine.call("docker/make-base", OWN_BASE, timeout_s=BASE_S)
    if made.returncode:
        pytest.skip(f"The image is not tested: no registry, and no base: {made.stderr[-300:]}")
    return OWN_BASE


def newest_wheel() -> list[Path]:
    """The wheel that was made last, if any."""
    wheels = (ROOT / "dist").glob(f"penstock-*-{OFFICIAL_PYTHON}-*.whl")
    return sorted(wheels, key=lambda path: path.stat().st_mtime)[-1:]


@pytest.fixture(scope="session")
def run(engine: Engine, image: str) -> Runner:
    """Runs containers of the image."""
    return Runner(engine, image)
