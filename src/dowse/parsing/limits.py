"""How much CPU time one file may take, in proportion to its size, and how long the names in it may be.

A hostile file must not cost more than a large honest one. Grammars parse hand-written code at several
megabytes a second and the whole pipeline handles half of one, so these limits leave a slow machine much room.
CPU time is counted, not wall time: a busy machine must not change what is indexed.
"""

from __future__ import annotations

_MEGABYTE = 1_000_000

# Once an update has lost this much time to slow files, the rest of it works under short limits, and when it
# has lost all this, the rest is not parsed but only cut into lines: a repository that is full of such files
# must not take hours.
SLOW_FILES_SECONDS = 30.0
ALL_SLOW_FILES_SECONDS = 120.0
_SHORT = 0.25

# Memory of a parsing process. Ordinary code needs a tenth of it; ambiguous text of a hundred kilobytes made a
# grammar take gigabytes.
PROCESS_MEMORY_BYTES = 800_000_000

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


def parse_seconds(size: int) -> float:
    """CPU time for the syntax tree of a file, where no process of its own can be ended."""
    return 0.5 + 4.0 * size / _MEGABYTE


def file_seconds(size: int, *, short: bool = False) -> float:
    """CPU time for all that is done with a file; then its process ends and it is indexed as plain lines."""
    return (2.0 + 12.0 * size / _MEGABYTE) * (_SHORT if short else 1)
