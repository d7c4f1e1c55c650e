"""Output formats of answers (docs/USING.md). Only names here: commands start quickly."""

from __future__ import annotations

# For people (text), for pipes and editors (path, grep, vimgrep), for programs (the rest).
FORMATS = ("text", "path", "grep", "vimgrep", "json")
