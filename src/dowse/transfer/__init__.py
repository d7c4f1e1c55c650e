"""Snapshots: an index, or one source of a cluster, in one file that goes anywhere without encoding again."""
