"""TF-IDF counts of an index, computed on first use and cached beside it."""
