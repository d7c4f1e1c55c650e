"""Many repositories into one index, on as many workers as there are."""
