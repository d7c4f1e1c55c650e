"""Untrusted input: bounded reads, escaped output, masked secrets, trusted settings (docs/SECURITY.md)."""
