"""Supervised worker processes: `supervisor` for the parent, `child` for the child, `frames` between them.

Nothing is imported here: a child must not load what only its parent needs.
"""
