"""Telling coding agents about dowse: their own files, in their own formats, all else kept (docs/USING.md)."""
