"""Interfaces: command line, HTTP, MCP, and the daemon that runs commands in a warm process."""
