"""The steps of a query, in their order: seeds, retrieve, rank, answer. `engine.py` takes them one by one."""
