"""Snapshots: an index, or one source of a cluster, as one file that is imported without encoding again."""
