"""Manifests: what may stand in one, where its paths lead, and what is said of mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dowse.errors import EvalError
from dowse.eval.manifest import Entry, read_manifest
from eval.small_tree import make_suite, make_tree, write_questions


def write(place: Path, entries: object) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(entries if isinstance(entries, str) else json.dumps(entries))
    return place


def test_paths_are_relative_to_the_manifest(tmp_path: Path) -> None:
    entry = {"name": "a", "watched_dir": "../code", "store_dir": "stores/a", "dataset": "cases/a.jsonl"}
    place = write(tmp_path / "runs" / "m.json", [entry])
    (found,) = read_manifest(place)
    assert found == Entry(
        name="a",
        dataset=str(tmp_path / "runs" / "cases" / "a.jsonl"),
        watched_dir=tmp_path / "code",
        store_dir=str(tmp_path / "runs" / "stores" / "a"),
    )


def test_absolute_paths_home_and_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPOS", str(tmp_path / "repos"))
    monkeypatch.setenv("WHICH", "flask")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    entry = {"name": "$WHICH", "watched_dir": "${REPOS}/$WHICH", "dataset": "~/cases.jsonl"}
    (found,) = read_manifest(write(tmp_path / "m.json", [entry]))
    assert found.name == "flask"
    assert found.watched_dir == tmp_path / "repos" / "flask"
    assert found.dataset == str(tmp_path / "home" / "cases.jsonl")


@pytest.mark.parametrize("text", ["$NOT_SET_HERE/x", "a/${NOT_SET_HERE}"])
def test_a_variable_that_is_not_set_is_named(tmp_path: Path, text: str) -> None:
    place = write(tmp_path / "m.json", [{"name": "a", "dataset": "d", "watched_dir": text}])
    with pytest.raises(EvalError, match=r"entry 1 speaks of \$\{?NOT_SET_HERE\}?, .*set it"):
        read_manifest(place)


GOOD = {"name": "a", "dataset": "d.jsonl"}


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ("", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "holds no repositories; write"),
        ({"name": "a"}, "holds no repositories; write"),
        ([GOOD, 3], "entry 2 is no object; write"),
        ([{"name": "a"}], "needs a name and a dataset"),
        ([{"dataset": "d"}], "needs a name and a dataset"),
        ([{**GOOD, "watched": "x"}], "has watched; an entry may have name, watched_dir"),
        ([{**GOOD, "name": 3}], "name must be text in quotes"),
        ([{**GOOD, "watched_dir": None}], "watched_dir must be text in quotes"),
        ([{**GOOD, "strip_docs": "yes"}], "strip_docs must be true or false"),
        ([GOOD, GOOD], "several entries called a; give each"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, entries: object, told: str) -> None:
    with pytest.raises(EvalError, match=told) as raised:
        read_manifest(write(tmp_path / "m.json", entries))
    assert "m.json" in str(raised.value)


def test_an_entry_decides_how_its_questions_are_scored(tmp_path: Path) -> None:
    cases = write_questions(tmp_path / "c.jsonl")
    entry = {"name": "mine", "dataset": "c.jsonl", "watched_dir": "tree"}
    more = {"level": "symbol", "metric": "recall@5", "strip_docs": True}
    make_tree(tmp_path / "tree")
    plain, told = (read_manifest(write(tmp_path / "m.json", [e]))[0] for e in (entry, entry | more))
    (first,), (second,) = plain.datasets(), told.datasets("file")
    assert (first.name, first.level, first.metric, first.strip_docs) == ("mine", "file", "ndcg@10", False)
    assert (second.level, second.metric, second.strip_docs) == ("symbol", "recall@5", True)
    assert first.files == (cases,) and first.root == tmp_path / "tree"
    assert plain.datasets("symbol")[0].level == "symbol"
    halves = [plain.datasets(half=half)[0].cases for half in ("tune", "report")]
    assert all(halves) and sum(map(len, halves)) == len(first.cases)


def test_a_suite_asks_about_many_repositories_each_with_its_index(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", tmp_path / "checkouts")
    entry = {"name": "s", "dataset": "suite", "checkouts": "checkouts", "store_dir": "store"}
    (found,) = read_manifest(write(tmp_path / "m.json", [entry]))
    sets = found.datasets()
    assert [each.name for each in sets] == ["s/one", "s/two"]
    assert [each.root for each in sets] == [tmp_path / "checkouts" / n / "src" for n in ("one", "two")]
    assert [found.index_dir(each) for each in sets] == [
        str(tmp_path / "store" / "s" / n) for n in ("one", "two")
    ]


def test_a_suite_does_not_ask_about_one_folder(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", tmp_path / "checkouts")
    entry = {"name": "s", "dataset": "suite", "watched_dir": "checkouts/one/src"}
    (found,) = read_manifest(write(tmp_path / "m.json", [entry]))
    with pytest.raises(EvalError, match=r"2 repositories.*--checkouts.*--queries"):
        found.datasets()
    (one,) = read_manifest(write(tmp_path / "m.json", [entry | {"queries": "one"}]))
    assert [each.name for each in one.datasets()] == ["s/one"]
