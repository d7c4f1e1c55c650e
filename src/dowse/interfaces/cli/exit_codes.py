"""Exit codes of every command, as of grep."""

from __future__ import annotations

EXIT_FOUND = 0
EXIT_NOTHING = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130  # 128 + SIGINT
