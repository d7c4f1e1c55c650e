"""Embedding of trees in hyperbolic space (Poincaré ball): geometry alone, no storage and no search."""
