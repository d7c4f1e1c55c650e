"""Pydantic models of every answer; OpenAPI, the page's client and the schemas of MCP come from them."""
