"""Pairs of documentation and code: cleaning and filters, for mined questions and for training."""
