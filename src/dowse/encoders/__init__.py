"""Encoders: documents and queries become unit vectors. `registry.load_encoder` returns one by name."""
