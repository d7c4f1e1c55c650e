"""Research that dowse builds on but does not need: tree embedding, TF-IDF, neural bag of words.

Nothing here is part of a commit or of the backend protocol. It is loaded, and computed, on first use.
"""
