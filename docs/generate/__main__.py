"""Write the pages of docs/ that the server's own tables say: ``python -m docs.generate``."""

from __future__ import annotations

from docs.generate import commands_page, console_meanings, info_page, metrics_page
from server.metrics import page
from server.parts.server_facts import SECTIONS
from server.table.command import TABLE

commands_page.DOCUMENT.write_text(commands_page.document(TABLE), "utf-8")
info_page.DOCUMENT.write_text(info_page.document(SECTIONS), "utf-8")
metrics_page.DOCUMENT.write_text(metrics_page.document(page.families()), "utf-8")
console_meanings.DOCUMENT.write_text(console_meanings.document(SECTIONS), "utf-8")
