"""What people chose: kept on this machine, and how much of it speaks for a symbol."""
