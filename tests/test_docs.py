"""The docs: the systemd unit is valid, and all links lead somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPERATIONS = ROOT / "docs" / "operations.md"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
def test_systemd_accepts_the_unit_of_the_operations_page(tmp_path: Path) -> None:
    found = re.search(r"```ini\n(.*?)```", OPERATIONS.read_text(), re.DOTALL)
    assert found is not None
    unit = tmp_path / "penstock.service"
    python = shutil.which("python3") or ""
    unit.write_text(found[1].replace("/opt/penstock/.venv/bin/python", python))
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "penstock.service" not in checked.stderr
    assert checked.returncode == 0


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")]))
def test_every_link_leads_to_an_existing_page_and_section(page: Path) -> None:
    for target in re.findall(r"\]\((?!http)([^)\s]+)\)", page.read_text()):
        name, _, section = target.partition("#")
        linked = (page.parent / name) if name else page
        assert linked.exists(), target
        if section:
            assert section in sections(linked), target


def sections(page: Path) -> set[str]:
    """The anchors of the headings of *page*."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
