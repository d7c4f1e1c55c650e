"""How many tokens a text costs a language model: an estimate that needs no model's own vocabulary."""

from __future__ import annotations

# Vocabularies of today's models put 3 to 4 bytes of code into a token, and about one character of Chinese
# or Japanese, which has 3 bytes. The low end, so that a budget is kept rather than missed.
BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Return the tokens of a text: a third of its bytes in UTF-8, rounded up."""
    return -(-byte_length(text) // BYTES_PER_TOKEN)


def byte_length(text: str) -> int:
    """Return the bytes of a text in UTF-8, whatever is in it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
