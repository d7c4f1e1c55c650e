"""Feedback in a real search: what it changes, what it never does, and its cost where there is none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.answer import Answer
from dowse.eval.clean_index import open_clean_index
from dowse.eval.configurations import parse_configuration
from dowse.eval.run import make_search
from dowse.feedback.events import Event
from dowse.search.ranking.feedback import MAX_CLIMB_ALONE

QUERY = "order loaves price"


@pytest.fixture
def index(sample: Path, sample_index: Index, tmp_path: Path, monkeypatch) -> Iterator[Index]:
    """The sample's index with feedback of its own."""
    monkeypatch.setenv("DOWSE_DATA_DIR", str(tmp_path / "data"))
    with Index.open(sample, index_dir=str(sample_index.backend.folder), refresh="never") as opened:
        yield opened


def names(answer: Answer) -> list[str]:
    return [hit.symbol.qualified_name for hit in answer.hits]


def choose(index: Index, query: str, symbol: str, kind: str = "click", *visitors: str) -> None:
    """Record that visitors chose a symbol."""
    for visitor in visitors or ("ann",):
        index.feedback.record(Event(query, symbol, kind, visitor))


def test_what_was_chosen_comes_first_and_says_so(index):
    before = index.search(QUERY)
    chosen = before.hits[4].symbol
    choose(index, QUERY, chosen.id)
    after = index.search(QUERY.upper())
    assert after.hits[0].symbol == chosen
    assert names(after)[1:5] == names(before)[:4] and names(after)[5:] == names(before)[5:]
    part = after.hits[0].explanation[-1]
    assert (part.source, part.detail) == ("feedback", "chosen once for this query, was rank 5")
    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]
    for hit in after.hits:
        assert sum(part.value for part in hit.explanation) == pytest.approx(hit.score)


def test_a_choice_counts_however_low_the_hit_stood(tmp_path, monkeypatch):
    monkeypatch.setenv("DOWSE_DATA_DIR", str(tmp_path / "data"))
    text = "".join(f"def bake_{n}():\n    return 'oven' + {'1 + ' * (n % 50)}{n}\n\n\n" for n in range(500))
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "ovens.py").write_text(text)
    with Index.open(tmp_path / "tree", index_dir=str(tmp_path / "index")) as index:
        index.update()
        hit = index.search("oven", k=500).hits[479]
        index.feedback.record(Event("oven", hit.symbol.id, "click", "ann", hit.rank))
        assert index.search("oven", k=3).hits[0].symbol.id == hit.symbol.id


def test_similar_questions_lift_a_little_and_others_not_at_all(index):
    similar, other = "order loaves price total", "retry action attempts delay"
    before, unlike = names(index.search(similar)), index.search(other)
    fifth = index.search(similar).hits[4].symbol
    choose(index, QUERY, fifth.id, "up")
    after = names(index.search(similar))
    assert 4 - MAX_CLIMB_ALONE <= after.index(fifth.qualified_name) < 4
    choose(index, QUERY, fifth.id, "up", *map(str, range(20)))
    assert names(index.search(similar))[0] == before[0], "what is clearly better stays first"
    assert index.search(other) == unlike


def test_the_switch_the_flag_and_forgetting_leave_no_trace(index, monkeypatch):
    before = index.search(QUERY)
    choose(index, QUERY, before.hits[3].symbol.id)
    assert index.search(QUERY) != before
    assert index.search(QUERY, feedback=False) == before
    monkeypatch.setenv("DOWSE_FEEDBACK", "no")
    with Index.open(index.root, index_dir=str(index.backend.folder)) as off:
        assert off.search(QUERY) == before
        assert off.search(QUERY, feedback=True) != before
    index.feedback.reset(QUERY)
    assert index.search(QUERY) == before


def test_mentions_stay_behind_what_the_graph_found(index):
    question = "what calls parse_order"
    before = index.search(question, k=20)
    assert before.plan is not None and before.plan.kind == "structure"
    found = [hit for hit in before.hits if any(lane.lane == "graph" for lane in hit.lanes)]
    mentions = [hit for hit in before.hits if hit not in found]
    assert found and mentions
    choose(index, question, mentions[-1].symbol.id, "up", "ann", "ben")
    choose(index, "what calls parse_order now", found[1].symbol.id, "up", "ann", "ben")
    assert names(index.search(question, k=20)) == names(before)
    choose(index, question, found[-1].symbol.id)
    after = index.search(question, k=20)
    assert after.hits[0].symbol == found[-1].symbol
    assert names(after)[len(found) :] == names(before)[len(found) :]


def test_patterns_are_ranked_by_choice_but_all_lines_come_by_place(index):
    pattern = "/loaves/"
    before, listed = index.search(pattern), index.search(pattern, k=0)
    choose(index, pattern, before.hits[2].symbol.id)
    assert index.search(pattern).hits[0].symbol == before.hits[2].symbol
    assert index.search(pattern, k=0) == listed


def test_evaluation_is_blind_to_what_was_chosen(index, tmp_path):
    before = index.search(QUERY)
    search = make_search(index, parse_configuration("auto"))
    blind = [hit.symbol.id for hit in search(QUERY, 10)]
    choose(index, QUERY, before.hits[4].symbol.id, "up", "ann", "ben")
    assert names(index.search(QUERY)) != names(before)
    assert [hit.symbol.id for hit in search(QUERY, 10)] == blind
    with open_clean_index(
        index.root, [], index_dir=str(tmp_path / "clean"), settings={"feedback": True}
    ) as clean:
        assert not clean.settings.feedback


def test_a_damaged_file_is_said_and_costs_no_answer(index):
    before = index.search(QUERY)
    index.feedback.path.parent.mkdir(parents=True)
    index.feedback.path.write_bytes(b"nothing that a database would begin with" * 50)
    after = index.search(QUERY)
    assert after.hits == before.hits
    assert any("left out: the feedback" in str(note) and ".damaged-1" in str(note) for note in after.notes)
    assert index.search(QUERY) == before


def test_where_nothing_was_chosen_nothing_is_loaded_or_written(index, tmp_path):
    script = (
        "import sys; from dowse import Index\n"
        "with Index.open(sys.argv[1], index_dir=sys.argv[2]) as index:\n"
        "    assert index.search('order loaves').hits\n"
        "print([name for name in sys.modules if name.startswith('dowse.feedback')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(index.root), str(index.backend.folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
    assert not (tmp_path / "data").exists()
