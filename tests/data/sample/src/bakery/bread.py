"""Baking bread."""

from .orders import Order


class Dough:
    """Flour, water and patience."""

    def __init__(self, flour_grams):
        self.flour_grams = flour_grams
        self.risen = False

    def knead(self, minutes):
        """Work the dough until it is smooth."""
        for _ in range(minutes):
            self.flour_grams -= 0.01

    def rise(self):
        """Let the yeast do its work."""
        self.risen = True


def bake_bread(order: Order, oven):
    """Bake all loaves of an order.

    Sourdough needs more time than anything else.
    """
    loaves = []
    for number in range(order.loaves):
        dough = Dough(500)
        dough.knead(10)
        dough.rise()
        loaves.append(oven.bake(dough, minutes=45))
    return loaves


def getUserName(session):
    return session["user_name"]
