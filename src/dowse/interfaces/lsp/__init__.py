"""The language server: search and the call graph for editors (docs/EDITORS.md)."""
