"""Search: plan a query, retrieve candidates, rank them, and return an answer (`pipeline.py`)."""
