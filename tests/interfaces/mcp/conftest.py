"""Small trees to serve, and one server's parts without a process around them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.interfaces.mcp.repositories import Repositories, Repository

from helpers import write_tree

SHOP = {
    "shop/cart.py": '''"""A cart."""


class Cart:
    """What somebody wants to buy."""

    def add(self, item: str, count: int = 1) -> None:
        """Put something into the cart."""
        self.items[item] = self.items.get(item, 0) + count

    def total(self, prices: dict[str, float]) -> float:
        """Sum up what everything costs."""
        return sum(prices[item] * count for item, count in self.items.items())


def checkout(cart: Cart, prices: dict[str, float]) -> float:
    """Pay for a cart."""
    return cart.total(prices)


def long_story(items: list[str]) -> list[str]:
    """Tell a long story."""
'''
    + "".join(f"    chapter_{number} = {number}\n" for number in range(60))
    + "    discount_of_the_day = 7\n    return items\n",
    "tests/test_cart.py": """from shop.cart import Cart, checkout


def test_checkout():
    assert checkout(Cart(), {}) == 0
""",
    "notes.md": "# Notes\n\nA shop sells bread.\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small repository to change."""
    return write_tree(tmp_path / "shop-repo", SHOP)


@pytest.fixture(scope="session")
def served(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """The sample repository with vectors, as a server holds it."""
    place = str(tmp_path_factory.mktemp("mcp") / "i")
    settings = {"index_dir": place, "refresh": "never", "encoder": "small"}
    index = Index.open(sample, **settings)
    index.update()
    index.close()
    repositories = Repositories(settings)
    yield repositories.open([sample])[0]
    repositories.close()
