"""The graph of references between symbols: how they resolve, and how it is walked."""
