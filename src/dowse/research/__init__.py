"""Research of the works dowse descends from: hyperbolic tree, neural bag of words. Loaded on request only."""
