"""Penstock answers as one newer server does what the others do not know: the scripts in ``newer/``.

A folder there is of one oracle. Redis's events are compared, too.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.compat.oracles import REDIS_8_6, VALKEY_9, Oracles
from tests.compat.processes import ServerProcess
from tests.compat.script import Case, load
from tests.compat.test_notifications import played
from tests.compat.test_scripts import check

NEWER = Path(__file__).parent / "newer"
CLASSES = b"KEAmnoc"
OF_REDIS = load(NEWER / "redis_8_6")
OF_VALKEY = load(NEWER / "valkey_9_1")


@pytest.mark.parametrize("case", OF_REDIS, ids=[case.name for case in OF_REDIS])
def test_penstock_answers_a_case_like_redis(
    case: Case, protocol: int, penstock: ServerProcess, oracles: Oracles
) -> None:
    check(case, REDIS_8_6, protocol, penstock, oracles)


@pytest.mark.parametrize("case", OF_VALKEY, ids=[case.name for case in OF_VALKEY])
def test_penstock_answers_a_case_like_valkey(
    case: Case, protocol: int, penstock: ServerProcess, oracles: Oracles
) -> None:
    check(case, VALKEY_9, protocol, penstock, oracles)


@pytest.mark.parametrize("case", OF_REDIS, ids=[case.name for case in OF_REDIS])
def test_penstock_tells_of_keys_what_redis_tells(
    case: Case, penstock: ServerProcess, oracles: Oracles
) -> None:
    now = time.time()
    theirs = played(oracles.start(REDIS_8_6), case, now, None, CLASSES)
    assert played(penstock, case, now, None, CLASSES) == theirs
