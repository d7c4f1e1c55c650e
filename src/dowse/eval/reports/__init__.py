"""What an evaluation found, for people and programs: terminal, JSON, Markdown, one HTML page."""
