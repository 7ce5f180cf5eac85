"""Where the programs of this folder run: Python environments, and one of Node.

``python -m tests.frameworks.environments FOLDER`` makes them; they share no package with the
server, and need not agree among each other. In that of pytest, Penstock itself is installed, since
its plugin is what the projects try. That of a client's own suite has the client's sources, too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REQUIREMENTS = HERE / "requirements"
INSTALLED = ROOT / "build" / "frameworks"
NODE = "node"
PYTEST = "pytest"
SUITE = "redis-py-suite"
SOURCES = "sources"


def make_all(folder: Path) -> None:
    """Make each environment in *folder*. Raises CalledProcessError."""
    for listed in sorted(REQUIREMENTS.glob("*.txt")):
        home = folder / listed.stem
        print(f"Installing {listed.name} ...", flush=True)
        # Half the time went into a pip of its own, and into compiling what is never imported.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
        ours = ["--no-compile"]
        if listed.stem == PYTEST:  # its programs write no bytecode: each would compile all again
            ours = ["--editable", str(ROOT)]
        pip(home, "install", "--requirement", str(listed), *ours)
        if listed.stem == SUITE:
            unpack_sources(home, listed.read_text().split()[0])
    npm = shutil.which("npm")
    if npm is None:
        print("There is no npm: Node's clients are not tested.")
        return
    print("Installing package.json ...", flush=True)
    home = folder / NODE
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(REQUIREMENTS / "package.json", home)
    subprocess.run([npm, "install", "--no-fund", "--no-audit", "--silent"], cwd=home, check=True)


def pip(home: Path, *words: str) -> None:
    """Let our pip do something for the environment *home*."""
    command = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python")]
    subprocess.run([*command, "--quiet", "--disable-pip-version-check", *words], check=True)


def unpack_sources(home: Path, requirement: str) -> None:
    """Put the source distribution of *requirement*, with its tests, into the environment *home*."""
    pip(home, "download", "--no-deps", "--no-binary", ":all:", "--dest", str(home), requirement)
    sources = home / SOURCES
    sources.mkdir()
    archive = f"{requirement.replace('==', '-')}.tar.gz"
    words = ["--strip-components", "1", "--directory", str(sources), "-xzf", str(home / archive)]
    subprocess.run(["tar", *words], check=True)


def command(program: str, environment: str) -> list[str] | None:
    """What runs *program* in *environment*; None if that is not installed."""
    home = INSTALLED / environment
    path = str(HERE / "programs" / program)
    if environment != NODE:
        python = home / "bin" / "python"
        return [str(python), path] if python.exists() else None
    node = shutil.which("node")
    modules = home / "node_modules"
    if node is None or not modules.exists():
        return None
    return ["env", f"NODE_PATH={modules}", node, path]


if __name__ == "__main__":
    make_all(Path(sys.argv[1]))
