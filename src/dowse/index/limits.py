"""How much a search may do for the index before it answers: it should not become an indexing run."""

from __future__ import annotations

# Trees up to this many files are walked before each search (a few milliseconds per thousand); in
# larger ones only `dowse index` looks for changes.
REFRESH_FILES = 5_000
# More changes than this are left to `dowse index`.
REFRESH_CHANGES = 200
# A search that needs vectors first embeds new symbols for at most this long; so few take only a moment.
QUICK_SECONDS = 5.0
QUICK_SYMBOLS = 300
