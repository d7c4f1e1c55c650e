"""File names that writers and readers agree on; loads no NumPy."""

from __future__ import annotations

# What is committed in a folder of vectors.
STATE = "state.json"
# The ending of files that `write_atomically` has not put in their place yet.
TEMPORARY = ".new"
