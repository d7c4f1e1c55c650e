"""Untrusted input: bounded reads, escaped output, trust on first use (docs/SECURITY.md)."""
