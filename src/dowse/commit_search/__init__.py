"""Commits by meaning and words: a catalog of messages and changes, incremental, with vectors."""
