"""How often ordinary code is taken for a secret, and how long looking takes: `secrets_mask.py FOLDER …`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from dowse.security.secret_masking import find_secrets
from dowse.source.content import classify_content
from dowse.source.walk import WalkedFile, walk

# About what a symbol has.
_PART = 2_000


def main() -> None:
    """Look at every file that would be indexed, part by part, and list what is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="list so many findings")
    options = parser.parse_args()
    files = parts = size = shown = 0
    hits: set[Path] = set()
    seconds = 0.0
    for folder in options.folders:
        for entry in walk(folder, exclude=["!site-packages/"], user_ignores=False):
            if not isinstance(entry, WalkedFile):
                continue
            path = folder / entry.path
            data = path.read_bytes()
            if classify_content(data, entry.path).skip_reason:
                continue
            files, size = files + 1, size + len(data)
            started = time.process_time()
            found = [find_secrets(data, at, at + _PART) for at in range(0, len(data), _PART)]
            seconds += time.process_time() - started
            parts += len(found)
            for spans in (secret for secrets in found for secret in secrets):
                hits.add(path)
                if (shown := shown + 1) <= options.show:
                    line = data.count(b"\n", 0, spans[0][0]) + 1
                    sys.stdout.write(f"{path}:{line}\n")
    sys.stdout.write(
        f"{files:,} files, {size:,} bytes: in {len(hits):,} files ({len(hits) / max(files, 1):.3%}), "
        f"{1e6 * seconds / max(parts, 1):.1f} µs for each {_PART:,} bytes\n"
    )


if __name__ == "__main__":
    main()
