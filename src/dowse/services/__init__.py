"""What HTTP, MCP and the daemon share: served indexes, targets, merging, updates, and the web server."""
