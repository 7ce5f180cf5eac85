"""What the site is made of: the repository's pages, each under its own path, so that links hold.

A page is read where it lies. mkdocs calls the functions whose names begin with ``on_``.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "bench/README.md",
)
DRAWING = re.compile(r'<img alt="([^"]*)" src="(?:\.\./)*docs/images/([\w-]+\.svg)" ?/?>')
ESCAPED_BAR = re.compile(r"<code>[^<]*\\\|[^<]*</code>")


def sources() -> list[str]:
    """The paths of all pages, drawings and pictures, from the root of the repository."""
    inside = [
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/images/*.svg"),
        *ROOT.glob("docs/images/*.png"),
    ]
    return [*PAGES, *sorted(str(path.relative_to(ROOT)) for path in inside)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the files of the site."""
    for source in sources():
        files.append(File.generated(config, source, abs_src_path=str(ROOT / source)))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put drawings into the page itself, where they take its colours.

    A bar in the code of a table's cell is written ``\\|``, as GitHub wants it; here it is a bar.
    """
    html = ESCAPED_BAR.sub(lambda found: found[0].replace("\\|", "|"), html)
    return DRAWING.sub(lambda found: drawing(found[2], found[1]), html)


def drawing(name: str, caption: str) -> str:
    """The SVG *name*, with what it shows in words for those who cannot see it."""
    svg = (ROOT / "docs" / "images" / name).read_text("utf-8")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{caption}" ', 1)
