"""Regular expressions: Rust syntax, translation to RE2, required trigrams, matching by line."""
