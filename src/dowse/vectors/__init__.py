"""Vectors as numbers: kept on disk, searched, grouped. Nothing here knows what a vector stands for."""
