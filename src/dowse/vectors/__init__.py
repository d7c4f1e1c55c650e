"""Vectors on disk: memory-mapped int8 matrix, exact and IVF search, spherical k-means."""
