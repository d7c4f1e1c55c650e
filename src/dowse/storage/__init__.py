"""Storage of an index: one protocol, a local and an Elasticsearch backend, one conformance suite."""
