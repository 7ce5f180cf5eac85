"""iredis: a shell for people, here with single commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit


def main(url: str) -> None:
    address = urlsplit(url)
    iredis = [str(Path(sys.executable).with_name("iredis")), "-h", str(address.hostname)]
    iredis += ["-p", str(address.port)]

    def asks(*words: str) -> str:
        done = subprocess.run(
            iredis, input=" ".join(words), capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout.strip()

    assert asks("SET", "a", "1") == "OK"
    assert asks("INCR", "a") == "2"
    asks("ZADD", "z", "1", "x")
    assert "x" in asks("ZRANGE", "z", "0", "-1")
    assert "a" in asks("KEYS", "*")
    print("commands are sent, and replies are shown")


if __name__ == "__main__":
    main(sys.argv[1])
