"""An index for each team: who may read one finds nothing of another, by whatever way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import DowseError
from dowse.services.suggest import suggest
from dowse.services.symbol_names import NameCache
from dowse.storage.elastic.errors import AccessDenied
from ingest.common import run
from storage.secured_fixtures import Secured, variables_set

from helpers import write_tree

ENCODER = "small"
# Nothing of team B may show: names, paths, words, the name of its repository.
SECRETS = ("settle_ledger", "vault.py", "zanzibar", "treasury")
OPEN = "def pay_invoice(amount):\n    '''Pay an invoice with retries.'''\n    return amount\n"
HIDDEN = "def settle_ledger(amount):\n    '''Pay the zanzibar invoice with retries.'''\n    return amount\n"


@pytest.fixture(scope="module")
def teams(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Indices of two teams with similar code; the folder of team A, and an API key that reads A's alone."""
    places = {"test-team-a": ("shop", "pay.py", OPEN), "test-team-b": ("treasury", "vault.py", HIDDEN)}
    roots = []
    for name, (folder, path, text) in places.items():
        root = write_tree(tmp_path_factory.mktemp("team") / folder, {path: text})
        key = secured.key("administrator", name)
        with (
            variables_set(secured.environment(DOWSE_ELASTIC_API_KEY=key)),
            Index.open(root, backend=secured.address(name), encoder=ENCODER) as index,
        ):
            index.update()
        roots.append(root)
    return roots[0], secured.key("searcher", "test-team-a")


def shows_nothing(*texts: str) -> None:
    for text in texts:
        assert not [secret for secret in SECRETS if secret in text]


def test_searches_counts_suggestions_and_statistics_are_those_of_one_team(
    secured: Secured, teams: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, key = teams
    for name, value in secured.environment(DOWSE_ELASTIC_API_KEY=key).items():
        monkeypatch.setenv(name, value)
    settings = {"encoder": ENCODER, "isolation": "never", "feedback": False}
    with Index.open(root, backend=secured.address("test-team-a"), **settings) as index:
        for question in (
            *("pay the zanzibar invoice", "settle_ledger", "setle_ledgr", "callers of settle_ledger"),
            *(
                "path:vault.py amount",
                "repo:treasury invoice",
                "/zanz.*invoice/",
                "sym:settle*",
                '"zanzibar"',
            ),
        ):
            answer = index.search(question, k=50)
            shows_nothing(*(f"{hit.symbol}" for hit in answer.hits))
            assert {hit.symbol.path for hit in answer.hits} <= {"pay.py"}
            # A note may repeat the question, and say nothing else of what it does not find.
            notes = " ".join(note.text for note in answer.notes)
            for word in question.split():
                notes = notes.replace(word, "")
            shows_nothing(notes)
        shows_nothing(str(index.related("pay_invoice")))
        with index.backend.reader() as reader:
            names = [("a", NameCache(index.backend).load(reader))]
        shows_nothing(
            *(str(suggest(typed, names, [], 10)) for typed in ("sett", "path:va", "repo:", "lang:"))
        )
        status = index.status()
        assert (status["files"], status["symbols"]) == (1, 1)
        shows_nothing(json.dumps(status, default=str))
        with index.backend.reader() as reader:
            assert [reader.document_frequency(term) for term in ("zanzibar", "settle_ledger", "pay")] == [
                0,
                0,
                1,
            ]
            assert reader.symbol_count() == 1 and [file.path for file in reader.files()] == ["pay.py"]


def test_the_index_of_another_team_is_refused_as_if_it_did_not_exist(
    secured: Secured, teams: tuple[Path, str]
) -> None:
    root, key = teams
    errors = []
    commands = (("search", "pay invoice"), ("status",), ("export",))
    for name, some in (("test-team-b", commands), ("test-team-n", ())):  # the last one does not exist
        with pytest.raises(AccessDenied) as error:
            secured.backend(name, key=key).has_generation()
        errors.append(str(error.value).replace(name, ""))
        environment = secured.environment(DOWSE_ELASTIC_API_KEY=key)
        for command in some:
            place = (root, root / "x.snapshot") if command == ("export",) else (root,)
            code, out, said = run(*command, *place, "--backend", secured.address(name), **environment)
            assert code == 2 and not out and said.count("\n") == 1, said
            assert "may not read" in said
            shows_nothing(said.replace(str(root), ""))
    assert errors[0] == errors[1]


def test_one_address_does_not_name_two_teams(secured: Secured, teams: tuple[Path, str]) -> None:
    for name in ("test-team-*", "test-team-a,test-team-b", "*", "_all"):
        with pytest.raises(DowseError, match="can't be the name of an index"):
            secured.backend(name, key=teams[1])
