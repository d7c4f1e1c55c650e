"""Index many repositories, here or on the workers of a Ray cluster."""
