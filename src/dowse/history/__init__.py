"""The git history of a repository: its commits, and what they changed that is still there."""
