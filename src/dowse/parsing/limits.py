"""Limits of parsing: CPU time of a file, in proportion to its size, memory, nesting and length of names.

A hostile file must not cost more than a large ordinary one. Grammars parse hand-written code at several
megabytes per second and the whole pipeline half a megabyte, so these limits leave a slow machine much room.
CPU time is limited, not wall time: a busy machine must not change what is indexed.
"""

from __future__ import annotations

_MEGABYTE = 1_000_000

# After an update has spent the first time on slow files, the other files have short limits; after the second,
# they are not parsed but only cut into lines: a repository full of such files must not take hours.
SLOW_FILES_SECONDS = 30.0
ALL_SLOW_FILES_SECONDS = 120.0
_SHORT_FACTOR = 0.25

# Memory of a parsing process. Ordinary code needs a tenth of it; a hundred kilobytes of ambiguous text can
# make a grammar take gigabytes.
PROCESS_MEMORY_BYTES = 800_000_000

# A name is stored with every definition inside of what it names, and a module with every name that is
# imported from it: without a limit, the index could grow quadratically. Hardly a generator writes longer
# names.
MAX_NAME_BYTES = 300
MAX_QUALIFIED_NAME = 1_000

# Names of a file that are no symbols: more are data. Headers of registers have some thousands.
MAX_NAMES = 20_000

# A larger file of JSON or YAML, or one with more different keys, is data: its keys are no names.
MAX_DATA_BYTES = 200_000
MAX_KEYS = 2_000

# A larger notebook has pictures in it; looking for its code would cost more than the code is worth.
MAX_NOTEBOOK_BYTES = 2_000_000

# Longer import statements are not parsed.
MAX_IMPORT_BYTES = 100_000

# The text of a nested definition is part of all that enclose it, so each level costs the file's size again.
MAX_DEPTH = 24

# A node with so many punctuation marks and keywords in a row is no code, and tree-sitter's queries take
# quadratic time on it (see `grammar.has_long_unnamed_run`).
MAX_UNNAMED_RUN = 1_000


def parse_seconds(size: int) -> float:
    """Return the CPU time limit for the syntax tree of a file that is not parsed in a process of its own."""
    return 0.5 + 4.0 * size / _MEGABYTE


def file_seconds(size: int, *, short: bool = False) -> float:
    """Return the CPU time limit for a file; then its process is killed and it is indexed as plain lines."""
    return (2.0 + 12.0 * size / _MEGABYTE) * (_SHORT_FACTOR if short else 1)
