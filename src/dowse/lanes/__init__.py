"""Ways to find candidates: by words and by exact text; each returns rows with scores."""
