"""Incremental updates of an index: diff the tree, parse what changed, commit it atomically."""
