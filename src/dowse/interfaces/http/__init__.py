"""The HTTP API and the page: thin layers over `dowse.Index` (docs/HTTP.md)."""
