"""What an agent has read after so many tokens: by hand, at the ends, and never less with more to spend."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from dowse.errors import EvalError
from dowse.eval.budget import (
    ENOUGH,
    READ,
    READ_LINES,
    BudgetMetrics,
    CodeLine,
    ShownLine,
    budget_of,
    first_shown,
    lines_read,
    read_budgets,
    targets_read,
)
from dowse.token_estimate import BYTES_PER_TOKEN, estimate_tokens

HUGE = 10**9


def code(file: int, count: int, start: int = 1) -> list[ShownLine]:
    """Return lines that cost a token each: two letters and the end of the line."""
    return [((file, number), "ab") for number in range(start, start + count)]


def places(lines: Sequence[ShownLine]) -> frozenset[CodeLine]:
    return frozenset(place for place, _ in lines if place is not None)


def reading(
    shown: Sequence[ShownLine], targets: dict[str, frozenset[CodeLine]], *budgets: int
) -> BudgetMetrics:
    return BudgetMetrics(budgets, targets, lambda _: shown)


def test_a_line_costs_its_bytes_and_its_end() -> None:
    assert BYTES_PER_TOKEN == 3 and estimate_tokens("ab\n") == 1
    assert first_shown(code(1, 3), HUGE) == {(1, 1): 3, (1, 2): 6, (1, 3): 9}
    assert first_shown([((1, 1), "é")], 1) == {(1, 1): 3}, "bytes count, not characters"


def test_what_is_no_code_costs_as_much() -> None:
    shown: list[ShownLine] = [(None, "1. a.py:1-2"), *code(1, 2)]
    assert first_shown(shown, HUGE) == {(1, 1): 15, (1, 2): 18}
    assert first_shown(shown, 4) == {}
    assert first_shown(shown, 5) == {(1, 1): 15}


def test_a_line_that_is_cut_is_not_read() -> None:
    assert first_shown([((1, 1), "abc")], 1) == {}
    assert first_shown([((1, 1), "abc")], 2) == {(1, 1): 4}


def test_what_is_shown_again_is_paid_again_and_read_once() -> None:
    costs = first_shown([*code(1, 2), *code(1, 2), *code(2, 1)], HUGE)
    assert costs == {(1, 1): 3, (1, 2): 6, (2, 1): 15}


def test_shares_by_hand() -> None:
    long, short, other = code(1, 10), code(2, 2), code(3, 4)
    wanted = [places(long), places(short)]
    costs = first_shown([*long, *other, *short], HUGE)
    # Ten lines, four that nobody wants, two: a token each. Twelve lines are relevant.
    by_hand = {0: (0, 0), 4: (0, 4), 5: (1, 5), 10: (1, 10), 14: (1, 10), 15: (1, 11), 16: (2, 12)}
    for budget, (targets, lines) in by_hand.items():
        assert targets_read(wanted, costs, budget) == targets / 2, budget
        assert lines_read(wanted, costs, budget) == lines / 12, budget


def test_a_short_target_is_read_when_all_of_it_was_shown() -> None:
    wanted = [places(code(1, ENOUGH - 2))]
    assert targets_read(wanted, first_shown(code(1, ENOUGH - 3), HUGE), HUGE) == 0.0
    assert targets_read(wanted, first_shown(code(1, ENOUGH - 2), HUGE), HUGE) == 1.0


def test_targets_that_share_lines_count_these_lines_once() -> None:
    outer, inner = places(code(1, 10)), places(code(1, 5, start=6))
    costs = first_shown(code(1, 5, start=6), HUGE)
    assert targets_read([outer, inner], costs, HUGE) == 1.0
    assert lines_read([outer, inner], costs, HUGE) == 0.5


def test_what_the_index_does_not_hold_is_never_read() -> None:
    measure = reading(code(1, 9), {"there": places(code(1, 9))}, 9)
    assert measure([], {"there": 1.0, "gone": 1.0}, []) == {"read@9": 0.5, "read_lines@9": 1.0}
    assert measure([], {"gone": 1.0}, []) == {"read@9": 0.0, "read_lines@9": 0.0}
    assert measure([], {}, []) == {"read@9": 0.0, "read_lines@9": 0.0}


def test_only_what_is_relevant_counts() -> None:
    targets = {"right": places(code(1, 5)), "judged": places(code(2, 5))}
    measure = reading(code(2, 5), targets, 5)
    assert measure([], {"right": 1.0, "judged": 0.0}, []) == {"read@5": 0.0, "read_lines@5": 0.0}
    assert measure([], {"right": 1.0, "judged": 0.5}, []) == {"read@5": 0.5, "read_lines@5": 0.5}


def test_nothing_is_read_for_nothing_and_all_for_enough() -> None:
    shown = code(1, 30)
    measure = reading(shown, {"a": places(shown)}, 0, HUGE)
    assert measure([], {"a": 1.0}, []) == {
        **{"read@0": 0.0, f"read@{HUGE}": 1.0},
        **{"read_lines@0": 0.0, f"read_lines@{HUGE}": 1.0},
    }
    assert first_shown([], HUGE) == {} and first_shown([(None, "")], 0) == {}


@pytest.mark.parametrize("seed", range(40))
def test_more_tokens_never_read_less_and_shares_stay_shares(seed: int) -> None:
    chance = random.Random(seed)
    shown: list[ShownLine] = []
    for _ in range(chance.randint(0, 120)):
        place = (chance.randint(1, 4), chance.randint(1, 25)) if chance.random() < 0.8 else None
        shown.append(
            (place, chance.choice(["", "x", "längere Zeile", "def f(a, b):"]) * chance.randint(1, 9))
        )
    targets = {
        name: frozenset((chance.randint(1, 4), chance.randint(1, 25)) for _ in range(chance.randint(0, 20)))
        for name in "abc"
    }
    budgets = sorted(chance.sample(range(4000), 12))
    found = reading(shown, targets, *budgets)([], dict.fromkeys("abc", 1.0), [])
    assert found == reading(shown, targets, *budgets)([], dict.fromkeys("abc", 1.0), [])
    for kind in (READ, READ_LINES):
        shares = [found[f"{kind}@{budget}"] for budget in budgets]
        assert shares == sorted(shares) and all(0 <= share <= 1 for share in shares)


def test_a_budget_alone_says_the_same_as_among_others() -> None:
    shown, targets = [*code(1, 7), *code(2, 7)], {"a": places(code(2, 7))}
    many = reading(shown, targets, 3, 9, 12, 100)([], {"a": 1.0}, [])
    for budget in (3, 9, 12, 100):
        alone = reading(shown, targets, budget)([], {"a": 1.0}, [])
        assert alone == {name: many[name] for name in alone}


def test_lists_of_budgets() -> None:
    assert read_budgets("500,1000,2000") == (500, 1000, 2000)
    assert read_budgets(" 2_000, 500,2000 ") == (500, 2000)
    assert read_budgets("1000000000") == (HUGE,)


@pytest.mark.parametrize(
    "text", ["", ",", "0", "500,0", "-5", "5e2", "many", "1.5", "500,,1000", "٣", "9" * 30]
)
def test_what_is_no_list_of_budgets_is_refused(text: str) -> None:
    with pytest.raises(EvalError, match=r"--budget is a list of tokens such as 500,1000,2000"):
        read_budgets(text)


def test_names_of_metrics() -> None:
    assert budget_of("read@500") == (READ, 500)
    assert budget_of("read_lines@8000") == (READ_LINES, 8000)
    assert [budget_of(name) for name in ("recall@5", "read@", "read@05", "spread@5", "read@5x")] == [None] * 5
