"""Orders: what customers want, and when."""

from dataclasses import dataclass

MAX_RETRY_COUNT = 3
DEFAULT_CURRENCY = "EUR"


@dataclass
class Order:
    """One wish of one customer."""

    customer: str
    loaves: int
    price: float = 0.0

    def total_price(self):
        """Return what all loaves cost together."""
        return self.loaves * self.price

    def cancel(self, reason):
        """Withdraw the order before it is baked."""
        self.loaves = 0
        return f"cancelled: {reason}"


def parse_order(text):
    """Read an order from a line such as 'alice 3'.

    Whimsical separators are tolerated.
    """
    customer, _, loaves = text.partition(" ")
    if not loaves.isdigit():
        raise ValueError(f"not a number of loaves: {loaves!r}")
    return Order(customer, int(loaves))


def retry_with_backoff(action, attempts=MAX_RETRY_COUNT):
    # Waits longer after every failure.
    for attempt in range(attempts):
        try:
            return action()
        except OSError:
            delay = 2 ** attempt
    raise TimeoutError(delay)
