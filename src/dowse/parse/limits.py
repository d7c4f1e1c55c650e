"""How much CPU time one file may take, in proportion to its size, and how long the names in it may be.

A hostile file must not cost more than a large honest one. Grammars parse hand-written code at several
megabytes a second and the whole pipeline handles half of one, so these limits leave a slow machine much room.
CPU time is counted, not wall time: a busy machine must not change what is indexed.
"""

from __future__ import annotations

_MEGABYTE = 1_000_000

# Once an update has lost this much time to slow files, the rest of it works under the short limits: a
# repository full of such files takes time in proportion to its size.
SLOW_FILES_SECONDS = 30.0
_SHORT = 0.25

# How the problem of a file that hit the limit begins.
TOO_SLOW = "parsing took longer than"

# A name is stored with every definition inside of what it names, and a module with every name that is
# imported from it: without a bound, their product would be. Hardly a generator makes longer ones.
MAX_NAME_BYTES = 300
MAX_QUALIFIED_NAME = 1_000

# Longer import statements are not taken apart.
MAX_IMPORT_BYTES = 100_000

# The text of a nested definition is part of all that hold it, so each level costs the file's size once more.
MAX_DEPTH = 24

# A node with so many punctuation marks and keywords in a row is no code. To find out which siblings follow,
# tree-sitter's queries skip over all of these, for each of them.
MAX_UNNAMED_RUN = 1_000


def parse_seconds(size: int, *, short: bool = False) -> float:
    """CPU time for the syntax tree of a file; then it is indexed as plain lines."""
    return (0.5 + 4.0 * size / _MEGABYTE) * (_SHORT if short else 1)


def file_seconds(size: int, *, short: bool = False) -> float:
    """CPU time for all that is done with a file; then its process ends and it is indexed as plain lines."""
    return (2.0 + 12.0 * size / _MEGABYTE) * (_SHORT if short else 1)
