"""SCIP: the index of a compiler or language server as edges of the call graph, and ours in its format."""
