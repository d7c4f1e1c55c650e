"""From package sources to pairs of documentation and code (`mine.mine_pairs`)."""
