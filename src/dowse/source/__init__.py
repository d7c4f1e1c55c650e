"""Where code comes from: folders, their ignore rules, file contents, git, and corpora of functions."""
