"""Where an index lives: one protocol, a local implementation; others pass the same conformance suite."""
