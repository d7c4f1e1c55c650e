"""From the histories of repositories to pairs of commit message and changed code (`repository`)."""
