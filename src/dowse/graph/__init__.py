"""The call graph: symbol tables, reference resolution, incremental linking and traversal."""
