"""The indented blocks of the docs about Spark: programs, commands and files that tests run.

A test finds a block by its page and its first words. A test that replaces the server, the cluster
or a folder in a block says so.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPARK, PIPELINE, README = "docs/spark.md", "docs/pipeline.md", "README.md"
DUMPS, WATCHING = "docs/dumps.md", "docs/watching-queries.md"
KAFKA, RECIPES = "docs/from-kafka-source.md", "docs/spark-recipes.md"
README_PART = re.compile(r"^## With Spark$(.*?)^## ", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[str]:
    """The blocks of a page, in order; of the README only those about Spark."""
    text = (ROOT / page).read_text("utf-8")
    if page == README:
        found = README_PART.search(text)
        assert found is not None
        text = found[1]
    assert "```" not in text, "blocks must be indented, not fenced"
    found_blocks, block = list[str](), list[str]()
    for line in [*text.splitlines(), "end"]:
        if line.startswith("    ") or (block and not line):
            block.append(line[4:])
        elif block:
            found_blocks.append("\n".join(block).rstrip() + "\n")
            block = []
    return found_blocks


def block(page: str, beginning: str) -> str:
    """The one block of *page* that begins with *beginning*."""
    (found,) = [text for text in blocks(page) if text.startswith(beginning)]
    return found
