"""redis-py's own tests of commands, which its source distribution has, run against Penstock.

They know what each version of Redis has, and skip what the server says that it is too old for. So
they are run at two claims: redis-version says what the server tells them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.compat.processes import ServerProcess, penstock_command
from tests.frameworks.environments import INSTALLED, SOURCES, SUITE

TIMEOUT_S = 600
TESTS = "tests/test_commands.py"

# Each fails with Redis 8.6.3, too.
NOT_OF_A_SERVER_ALONE = [
    "test_client_setinfo",  # asks a server of its own at port 6379, by this and the next name
    "test_client_setinfo_with_driver_info",
    "test_psync",  # waits for a reply where the stream of a replica begins
    "test_mset_on_cluster_multiple_slots",  # needs a cluster
    "test_msetex_invalid_inputs_with_cluster_client",
    "test_module",  # these need a server with modules
    "test_module_loadex",
    "test_acl_cat_contain_modules_no_category",
    "test_acl_modules_cat_with_category",
    "test_acl_modules_commands",
    "test_acl_modules_category_commands",
    "test_config_get_for_modules",
    "test_config_set_for_search_module",
    "test_info_with_modules",
]


BY_CLAIM = {
    "7.4.0": [  # before 8.2.2 a group could have read more entries than were added
        "test_xgroup_create_entriesread",
        "test_xgroup_setid",
    ],
    "8.6.3": ["test_local_digest_matches_server"],  # it hands text to xxhash, which takes bytes
}


# RESP2 is what older clients speak, with what an older server has.
PROTOCOLS = {"7.4.0": 2, "8.6.3": 3}


@pytest.fixture(scope="module", params=BY_CLAIM)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServerProcess, str]]:
    """A server, and the version that it claims to be."""
    folder, claim = tmp_path_factory.mktemp("server"), str(request.param)
    options = ("--enable-debug-command", "local", "--redis-version", claim)
    process = ServerProcess(penstock_command(), folder, *options)
    yield process, claim
    process.stop()


def test_redis_pys_own_tests_of_commands_pass(server: tuple[ServerProcess, str]) -> None:
    process, claim = server
    home = INSTALLED / SUITE
    python = home / "bin" / "python"
    if not python.exists():
        missing = f"{SUITE} is not installed: make test-frameworks"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    names = NOT_OF_A_SERVER_ALONE + BY_CLAIM[claim]
    left_out = [f"--deselect={TESTS}::TestRedisCommands::{name}" for name in names]
    done = subprocess.run(
        [
            str(python), "-m", "pytest", TESTS, "-q", "-p", "no:cacheprovider", *left_out,
            f"--redis-url=redis://127.0.0.1:{process.port}/0", f"--protocol={PROTOCOLS[claim]}",
        ],
        cwd=home / SOURCES,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr
    assert " passed" in done.stdout
