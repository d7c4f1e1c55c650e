"""Keeping the store true: plan the difference, parse what changed, commit it."""
