"""What HTTP, MCP and the daemon share: several indexes at once, refreshing them, naming their symbols."""
