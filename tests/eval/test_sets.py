"""Our own questions: every answer is there, and few questions give theirs away."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import dowse
from dowse.errors import EvalError
from dowse.eval.datasets.jsonl import parse_case
from dowse.eval.datasets.lines import read_rows
from dowse.eval.matching import ranked_keys
from dowse.eval.sets import OWN, own_set, structure_cases, structure_checkouts
from dowse.eval.types import Case, SearchResult
from dowse.parsing.parser import parse_file
from dowse.parsing.tokenizer import split_identifier, stem, tokenize

PACKAGE = Path(dowse.__file__).parent
ABOUT_DOWSE = ("files", "symbols", "names")
COUNTS = {"files": 24, "symbols": 22, "names": 22, "structure": 40}


def lines_of(name: str) -> list[tuple[str, Case]]:
    """Give the cases of a set, each with its file and line."""
    own = OWN[name]
    return [
        (f"{own.name}:{where.rpartition(':')[2]}", parse_case(row, where))
        for where, row in read_rows(own.file)
    ]


@cache
def symbols_of(path: str) -> frozenset[str]:
    """Return the qualified names in a file of dowse, as its own parser sees them."""
    text = (PACKAGE / path.removeprefix("src/dowse/")).read_bytes()
    return frozenset(each.qualified_name for each in parse_file(text, "python", path).definitions)


def missing(case: Case) -> list[str]:
    """Return the answers that are not in today's tree."""
    symbols = [target.rpartition("::") for target in case.symbols]
    files = {*case.files, *(path for path, _, _ in symbols)}
    gone = {path for path in files if not (PACKAGE / path.removeprefix("src/dowse/")).is_file()}
    return sorted(gone) + [
        f"{path}::{name}" for path, _, name in symbols if path not in gone and name not in symbols_of(path)
    ]


@pytest.mark.parametrize("name", ABOUT_DOWSE)
def test_every_answer_is_in_todays_tree(name: str) -> None:
    wrong = [f"{where}: {', '.join(gone)}" for where, case in lines_of(name) if (gone := missing(case))]
    assert not wrong, "moved or renamed; mend these lines of src/dowse/eval/sets:\n" + "\n".join(wrong)


def test_a_renamed_function_is_noticed() -> None:
    case = Case(
        "",
        symbols={"src/dowse/search/ranking/fusion.py::rrf": 2, "src/dowse/search/ranking/fusion.py::rff": 2},
    )
    assert missing(case) == ["src/dowse/search/ranking/fusion.py::rff"]
    assert missing(Case("", {"src/dowse/nowhere.py": 1})) == ["src/dowse/nowhere.py"]


@pytest.mark.parametrize("name", OWN)
def test_as_many_as_promised_each_with_an_id_of_its_own(name: str) -> None:
    cases = [case for _, case in lines_of(name)]
    assert len(cases) == COUNTS[name] == len({case.id for case in cases})
    assert len({(case.query, *case.symbols) for case in cases}) == len(cases)
    assert all(case.id.startswith(f"{name}-") and case.source == "hand" for case in cases)


def test_levels_have_the_answers_that_they_score() -> None:
    for name, own in OWN.items():
        assert all(max(case.qrels(own.level).values()) > 0 for _, case in lines_of(name))
    assert all(1 <= len(case.files) <= 3 for _, case in lines_of("files"))
    assert all(case.files for _, case in lines_of("names"))


def gives_away(case: Case) -> bool:
    """Whether a question has all words of the name of an answer, or of its file."""
    words = set(tokenize(case.query))
    best = [target for target, grade in (case.files or case.symbols).items() if grade == 2]
    names = [
        name for target in best for name in (Path(target.partition("::")[0]).stem, target.rpartition(".")[2])
    ]
    names += [target.rpartition("::")[2] for target in best if "::" in target]
    parts = [{stem(part) for part in split_identifier(name)} for name in names]
    return any(each and each <= words for each in parts)


@pytest.mark.parametrize("name", ["files", "symbols"])
def test_most_questions_do_not_name_their_answer(name: str) -> None:
    given = [where for where, case in lines_of(name) if gives_away(case)]
    assert len(given) <= COUNTS[name] / 4, f"these repeat the name of their answer: {', '.join(given)}"


def test_naming_the_answer_is_noticed() -> None:
    symbols = {"src/dowse/storage/local/layout.py::clone_generation": 2}
    assert gives_away(Case("cloning the generations", symbols=symbols))
    assert gives_away(Case("which layout", symbols=symbols))
    assert not gives_away(Case("the next generation of the index", symbols=symbols))


@pytest.mark.parametrize("seen_from", ["", "dowse/", "src/dowse/", "project/src/dowse/"])
def test_answers_are_met_from_any_folder_above(seen_from: str) -> None:
    (dataset,) = own_set("own:files")
    qrels = dataset.cases[0].qrels("file")
    found = [SearchResult(seen_from + target.removeprefix("src/dowse/")) for target in qrels]
    assert ranked_keys(found, qrels, "file") == list(qrels)


def test_what_is_searched_is_the_package_itself() -> None:
    for name in ABOUT_DOWSE:
        (dataset,) = own_set(f"own:{name}")
        assert dataset.root == PACKAGE
        assert (dataset.name, dataset.level) == (f"own:{name}", OWN[name].level)


def test_structure_has_many_repositories_and_languages() -> None:
    cases, checkouts = structure_cases(), structure_checkouts()
    assert set(cases) <= set(checkouts)
    assert len(cases) >= 10
    assert len({checkouts[name].language for name in cases}) >= 8
    assert all(1 <= len(case.symbols) <= 12 for each in cases.values() for case in each)
    assert all("::" in target for each in cases.values() for case in each for target in case.symbols)


def test_structure_is_a_dataset_for_each_repository(tmp_path: Path) -> None:
    for checkout in structure_checkouts().values():
        (tmp_path / checkout.name / checkout.root).mkdir(parents=True)
    datasets = own_set("own:structure", tmp_path)
    assert sum(len(dataset.cases) for dataset in datasets) == COUNTS["structure"]
    assert datasets[0].name == "structure/flask"
    assert datasets[0].root == tmp_path / "flask/src/flask"
    assert [each.name for each in own_set("own:structure/gin", tmp_path)] == ["structure/gin"]


def test_what_is_missing_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="--checkouts"):
        own_set("own:structure")
    with pytest.raises(EvalError, match=r"git clone https://github.com/pallets/flask.git"):
        own_set("own:structure", tmp_path)
    with pytest.raises(EvalError, match="it has flask"):
        own_set("own:structure/nothing", tmp_path)
    for name in ("own:other", "own:files/flask", "own:"):
        with pytest.raises(EvalError, match="own:files"):
            own_set(name)
