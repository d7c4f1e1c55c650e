"""dowse."""
