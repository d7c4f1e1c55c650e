"""The lanes that find candidates: words, exact text, meaning, the graph; and what runs them."""
