"""Regular expressions: Rust syntax parsed, translated to RE2, required trigrams, matching by line."""
