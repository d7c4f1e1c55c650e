"""What lies on disk: the catalog (SQLite), the text indexes (tantivy), one generation for both."""
