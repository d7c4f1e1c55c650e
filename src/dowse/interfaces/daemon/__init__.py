"""A process that is up anyway answers for commands that would have to start first.

Nothing is imported here: `client.py` is loaded before anything else, and has to be quick.
"""
