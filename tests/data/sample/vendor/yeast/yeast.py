"""Somebody else's yeast."""


def parse_order(text):
    """A copy that should rank below ours."""
    return text.split()


def ferment(sugar):
    return sugar * 0.51
