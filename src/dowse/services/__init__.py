"""What HTTP and MCP share: served indexes, targets, merging, updates, and the web server."""
