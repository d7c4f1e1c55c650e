"""How to order bread."""

from bakery.orders import parse_order


def demo():
    print(parse_order("bob 2"))
