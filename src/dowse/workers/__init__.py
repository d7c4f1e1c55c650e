"""Supervised worker processes: `supervisor` and `process` for the parent, `child` for the child.

Nothing is imported here: a child must not load what only its parent needs.
"""
