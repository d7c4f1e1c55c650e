"""Untrusted input: bounded reads, escaped output, secret scanning, trust on first use (docs/SECURITY.md)."""
