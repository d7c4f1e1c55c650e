"""What can be asked: one file a question."""
