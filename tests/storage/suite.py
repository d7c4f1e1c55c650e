"""What the suites of all backends share: property tests whose number of examples a backend may lower."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st


def drawn(most: int, **strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """Make a property test with so many examples, where its class does not say fewer."""

    def mark(test: Callable[..., None]) -> Any:
        def make(count: int) -> Any:
            return settings(max_examples=count)(given(**strategies)(test))

        made = make(most)
        made.with_examples = lambda count: make(min(count, most))
        return made

    return mark


class Suite:
    """A subclass with `examples` draws that many at most: each costs a backend over a network some time."""

    examples: int | None = None

    def __init_subclass__(cls) -> None:
        if cls.examples is None:
            return
        for name in dir(cls):
            remake = getattr(getattr(cls, name), "with_examples", None)
            if remake is not None:
                setattr(cls, name, remake(cls.examples))
