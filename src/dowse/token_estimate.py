"""Token estimates: how many tokens of a language model a text costs, without the model's vocabulary."""

from __future__ import annotations

# Vocabularies of today's models put 3 to 4 bytes of code into a token, and about one character of Chinese
# or Japanese, which has 3 bytes. This is the low end, so that a token budget is kept rather than exceeded.
BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens of a text: a third of its UTF-8 bytes, rounded up."""
    return -(-byte_length(text) // BYTES_PER_TOKEN)


def byte_length(text: str) -> int:
    """Return the UTF-8 bytes of a text; lone surrogates count too."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
