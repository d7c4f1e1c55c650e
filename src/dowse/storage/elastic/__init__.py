"""The index on an Elasticsearch cluster: the sources of many repositories under one name."""
