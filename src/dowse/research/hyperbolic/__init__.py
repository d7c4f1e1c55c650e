"""The shape of repositories as points of hyperbolic space: geometry alone, no store and no search."""
