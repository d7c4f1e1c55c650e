"""The MCP server: search and the code graph as tools for coding agents (docs/MCP.md)."""
