"""A running dowse process serves as a daemon for commands, which would have to start first.

Nothing is imported here: `client.py` is loaded before anything else, and has to be quick.
"""
