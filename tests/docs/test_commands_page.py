"""docs/commands.md is what the command table says."""

from docs.generate.commands_page import DOCUMENT, document
from server.table.command import TABLE


def test_the_document_is_up_to_date():
    """If not, run make docs."""
    assert DOCUMENT.read_text("utf-8") == document(TABLE)


def test_every_command_has_an_entry():
    lines = document(TABLE).splitlines()
    for parent in TABLE:
        for row in parent.subcommands.values() or [parent]:
            assert f"### {row.name.upper().replace('|', ' ')}" in lines
