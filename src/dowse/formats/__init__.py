"""How answers are written: one file a format (docs/USING.md). Names only here, to stay quick to start."""

from __future__ import annotations

# For people (text), for pipes and editors (path, grep, vimgrep), for programs (the rest).
FORMATS = ("text", "path", "grep", "vimgrep", "sarif", "json", "jsonl")
