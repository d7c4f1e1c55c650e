"""Encoders: what turns documents and queries into unit vectors. `models.load` finds one by name."""
