"""How dowse is asked: command line, HTTP, MCP, and the daemon that answers for commands."""
