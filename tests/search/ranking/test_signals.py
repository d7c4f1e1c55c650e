"""Signals of a tree: what takes whose place, what keeps its order, and that everything adds up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.ranking.profile import TREE, Profile
from dowse.search.ranking.signals import QueryFeatures, RankedHit, rank
from dowse.types import Contribution, SymbolRow

PLAIN = Profile(fields={}, definition=0.0)
WANTED = QueryFeatures(frozenset({"cart", "total"}))
KINDS = ("function", "method", "class", "module", "section")


def row(number: int, file: int = 1, kind: str = "function", name: str = "", role: str = "") -> SymbolRow:
    name = name or f"name{number}"
    signature = "" if kind == "module" else f"def {name}()"
    place = (number, number)
    return SymbolRow(
        number, f"id{number}", "", f"f{file}.py", "python", role, kind, name, name, *place, signature, file
    )


def ranked(rows: list[SymbolRow], scores: list[float], profile: Profile) -> list[RankedHit]:
    return rank(rows, [[Contribution("keyword", score)] for score in scores], WANTED, profile)


candidates = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(KINDS), st.floats(0.01, 10)), min_size=1, max_size=20
).map(
    lambda drawn: (
        [row(number, file, kind) for number, (file, kind, _) in enumerate(drawn)],
        [score for *_, score in drawn],
    )
)


@given(candidates)
def test_contributions_add_up_and_the_order_is_that_of_the_scores(given_rows):
    found = ranked(*given_rows, TREE)
    assert sorted(hit.row.row for hit in found) == list(range(len(found)))
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    for hit in found:
        assert sum(part.value for part in hit.contributions) == pytest.approx(hit.score)


@given(candidates)
def test_heads_give_way_without_moving_any_file(given_rows):
    before = ranked(*given_rows, PLAIN)
    after = ranked(*given_rows, replace(PLAIN, promote_definitions=True))
    files = [list(dict.fromkeys(hit.row.file_id for hit in found)) for found in (before, after)]
    assert files[0] == files[1]
    assert sorted(hit.score for hit in before) == pytest.approx(sorted(hit.score for hit in after))
    best: dict[int, RankedHit] = {}
    for hit in after:
        best.setdefault(hit.row.file_id, hit)
    for file, first in best.items():
        others = [
            hit for hit in before if hit.row.file_id == file and hit.row.kind not in ("module", "section")
        ]
        assert first.row.kind != "module" or not others


def test_the_best_definition_takes_the_place_of_the_head():
    rows = [row(1, 1, "module"), row(2, 1), row(3, 1), row(4, 2)]
    found = ranked(rows, [10, 4, 3, 6], replace(PLAIN, promote_definitions=True))
    assert [hit.row.row for hit in found] == [2, 4, 1, 3]
    assert [part.source for part in found[0].contributions] == ["keyword", "signal.head"]


@given(candidates, st.floats(0.1, 1.0))
def test_saturation_keeps_the_order_inside_a_file_and_its_first_hit(given_rows, left: float):
    before = ranked(*given_rows, PLAIN)
    after = ranked(*given_rows, replace(PLAIN, saturation=left))
    for file in {hit.row.file_id for hit in before}:
        mine = [[hit for hit in found if hit.row.file_id == file] for found in (before, after)]
        assert mine[0][0].score == mine[1][0].score
        for one, other in zip(mine[0][1:], mine[1][1:], strict=True):
            assert other.score == pytest.approx(one.score * (left if left < 1 else 1))


def test_company_counts_by_what_matches_well():
    """Beside a blend, many weak matches must not outweigh a few strong ones."""
    rows = [row(1, 1), row(2, 1), *(row(n, 2) for n in range(3, 11))]
    scores = [1.0, 0.9] + [0.5] * 8
    plain = replace(PLAIN, coherence=1.0)
    sums = {power: ranked(rows, scores, replace(plain, coherence_power=power)) for power in (1.0, 3.0)}
    gained = {
        power: {
            hit.row.file_id: part.value
            for hit in found
            for part in hit.contributions
            if "coherence" in part.source
        }
        for power, found in sums.items()
    }
    assert gained[1.0][2] > gained[1.0][1]
    assert gained[3.0][1] > gained[3.0][2]


def at(number: int, path: str) -> SymbolRow:
    return row(number, number)._replace(path=path)


def shares(rows: list[SymbolRow], profile: Profile, query: QueryFeatures = WANTED) -> dict[str, float]:
    """Return what the signals add to equal scores, by path."""
    hits = rank(rows, [[Contribution("keyword", 1.0)] for _ in rows], query, profile)
    return {hit.row.path: round(hit.score - 1, 3) for hit in hits}


@pytest.mark.parametrize(
    "module",
    ["shop/cart/__init__.py", "shop/cart/mod.rs", "shop/cart/index.ts", "shop/cart.rb", "shop/cart.hs"],
)
def test_a_module_gains_by_what_matches_in_the_folder_that_it_heads(module: str):
    rows = [at(1, module), *(at(n, f"shop/cart/part{n}.x") for n in range(2, 5)), at(5, "shop/other.x")]
    scores = [[Contribution("keyword", 0.2)], *([Contribution("keyword", 1.0)] for _ in rows[1:])]
    weak = rank(rows, scores, WANTED, replace(PLAIN, coherence=0.5, heads=0.1))
    parts = {hit.row.path: hit.contributions[-1].value for hit in weak}
    assert parts[module] == pytest.approx(0.5 * (0.2 + 0.1 * 3))
    assert parts["shop/cart/part2.x"] == parts["shop/other.x"] == 0.5


def test_a_module_that_the_question_does_not_name_gains_nothing_by_its_folder():
    rows = [at(1, "shop/store/mod.rs"), at(2, "shop/store/cart.rs"), at(3, "shop/store/total.rs")]
    weak = [[Contribution("keyword", 0.2)], *([Contribution("keyword", 1.0)] for _ in rows[1:])]
    hits = rank(rows, weak, WANTED, replace(PLAIN, coherence=0.5, heads=1.0))
    assert hits[-1].row.path == "shop/store/mod.rs" and hits[-1].score == pytest.approx(0.3)


def test_the_words_of_a_path_count_by_their_weight_in_the_query():
    query = replace(WANTED, weights={"cart": 0.9, "total": 0.1})
    rows = [at(1, "shop/cart.py"), at(2, "shop/total.py"), at(3, "total/cart.py"), at(4, "shop/bill.py")]
    assert shares(rows, replace(PLAIN, path=1.0), query) == {
        "total/cart.py": 1.0,
        "shop/cart.py": 0.9,
        "shop/total.py": 0.1,
        "shop/bill.py": 0.0,
    }


def test_a_word_in_the_folders_of_nearly_all_files_says_nothing():
    """Mostly the project's own name: `sidekiq.rb` beside `sidekiq/` is not what all questions ask for."""
    rows = [at(1, "cart.py"), *(at(n, f"cart/part{n}.py") for n in range(2, 12))]
    assert set(shares(rows, replace(PLAIN, file=0.5, folder=0.5)).values()) == {0.0}


def test_the_matches_of_a_large_file_count_less_each():
    rows = [row(1, 1), *(row(n, 2) for n in range(2, 18))]
    gained = [
        max(
            part.value
            for hit in found
            if hit.row.file_id == 1
            for part in hit.contributions
            if "coherence" in part.source
        )
        for found in (
            ranked(rows, [1.0] * 17, replace(PLAIN, coherence=1.0, coherence_size=size))
            for size in (0.0, 0.5)
        )
    ]
    assert gained == [pytest.approx(1 / 16), pytest.approx(1 / 4)]
