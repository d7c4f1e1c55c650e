"""Kinds of symbols, grouped as several parts of the house need them."""

from __future__ import annotations

# What can be a type: it has members, and others extend or implement it.
TYPES = frozenset(["class", "interface", "struct", "enum", "trait", "type", "impl"])
# The rest of a file outside its definitions, a whole file, and prose: they bear names and define nothing.
BESIDES = frozenset(["module", "file", "section", "text"])
