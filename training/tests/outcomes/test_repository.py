"""From a repository with a history to pairs, and the command around it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from dowse.errors import ConfigError
from dowse_training import cli
from dowse_training.outcomes.repository import MAX_FILES, Effort, Outcome, mine_repository
from dowse_training.pairs.exclusion import Exclusion, make_exclusion
from dowse_training.pairs.files import find_files

OVEN = '''class Oven:
    """Bakes bread at a temperature that stays the same."""

    def heat(self, degrees):
        while self.temperature < degrees:
            wait(1)
            self.temperature += 1

    def cool(self, degrees):
        while self.temperature > degrees:
            wait(1)
            self.temperature -= 1
'''
LICENCE = {"LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to …\n"}
HEATED = OVEN.replace("self.temperature += 1", "self.temperature += self.step")
SUBJECT = "fix(oven): Stop heating the oven beyond its limit (#12)"


@pytest.fixture
def bakery(repository):
    """A repository whose second commit changes one method, and tells users about it."""
    repository.commit(
        "Add an oven that bakes bread", {"src/oven.py": OVEN, "CHANGES.md": "# Changes\n", **LICENCE}
    )
    repository.commit(
        f"{SUBJECT}\n\nThe fuse blew.\n\nSigned-off-by: Ada <a@example.org>",
        {"src/oven.py": HEATED, "CHANGES.md": "# Changes\n\n- The oven no longer blows the fuse.\n"},
    )
    return repository


def mine(repository, exclusion: Exclusion = Exclusion()) -> list[Outcome]:  # noqa: B008 - immutable
    mined = mine_repository("ada/bakery", repository.root, exclusion, Effort(100, 60.0))
    assert not mined.problem
    return list(mined.outcomes)


def test_message_news_and_class_each_make_a_pair(bakery):
    message, news, oven = mine(bakery)
    assert message.kind == "commit"
    assert message.doc == "Stop heating the oven beyond its limit\n\nThe fuse blew."
    assert (message.language, message.pkg, message.path, message.name) == (
        "python",
        "ada/bakery",
        "src/oven.py",
        "Oven.heat",
    )
    assert "self.temperature += 1" in message.code
    assert (news.kind, news.doc, news.code) == ("news", "The oven no longer blows the fuse", message.code)
    assert (oven.kind, oven.name) == ("class", "Oven")


@pytest.mark.parametrize(
    ("subject", "path", "author"),
    [
        ("Bump version to 1.2.3", "src/oven.py", "Ada <a@example.org>"),
        ("Stop heating the oven beyond its limit", "tests/test_oven.py", "Ada <a@example.org>"),
        ("Stop heating the oven beyond its limit", "vendor/oven.py", "Ada <a@example.org>"),
        ("Stop heating the oven beyond its limit", "src/oven.py", "dependabot[bot] <bot@example.org>"),
    ],
)
def test_bots_versions_tests_and_copies_give_nothing(repository, subject, path, author):
    repository.commit("Add an oven that bakes bread", {path: OVEN, **LICENCE})
    repository.commit(subject, {path: HEATED}, author)
    assert [each for each in mine(repository) if each.kind == "commit"] == []


def test_a_message_about_many_files_describes_none_of_them(repository):
    names = [f"src/oven_{number}.py" for number in range(MAX_FILES + 1)]
    repository.commit("Add ovens that bake bread", {**dict.fromkeys(names, OVEN), **LICENCE})
    repository.commit("Stop heating the ovens beyond their limits", dict.fromkeys(names, HEATED))
    assert [each for each in mine(repository) if each.kind == "commit"] == []


def test_what_is_evaluated_on_is_left_out(bakery):
    assert mine_repository(
        "eve/bakery", bakery.root, make_exclusion(["ada/bakery"], (), ()), Effort()
    ).problem
    code = next(each.code for each in mine(bakery) if each.name == "Oven.heat")
    digest = hashlib.sha1(re.sub(r"\W+", "", code).lower().encode()).hexdigest()[:16]
    assert [each.name for each in mine(bakery, make_exclusion((), [digest], ()))] == ["Oven"]


def test_a_repository_without_a_permissive_licence_is_left_out(repository):
    repository.commit("Add an oven that bakes bread", {"src/oven.py": OVEN})
    mined = mine_repository("ada/bakery", repository.root, Exclusion(), Effort())
    assert (mined.outcomes, mined.problem) == ((), "no permissive licence")


def rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_the_command_adds_new_repositories_to_what_is_there(bakery, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["commits", "--workers", "1", "--valid", "0", "--out", str(out)]
    assert cli.run([*command, f"ada/bakery={bakery.root}"]) == 0
    assert cli.run([*command, f"ada/bakery={bakery.root}", f"bo/bakery={bakery.root}"]) == 0
    (pairs,) = find_files([str(out)])
    assert (pairs.language, pairs.valid) == ("python", False)
    written = rows(pairs.path)
    assert [row["pkg"] for row in written] == ["ada/bakery"] * 3 + ["bo/bakery"] * 3
    assert set(written[0]) == {"pkg", "path", "name", "doc", "code", "kind"}
    assert "1 of 1 bo/bakery: 1 class, 1 commit, 1 news" in capsys.readouterr().err


def test_validation_repositories_have_their_own_files(bakery, tmp_path):
    cli.run(["commits", "--workers", "1", "--valid", "1", "--out", str(tmp_path / "out"), str(bakery.root)])
    assert [row["pkg"] for row in rows(tmp_path / "out" / "python.valid.jsonl.gz")] == ["bakery"] * 3
    assert not (tmp_path / "out" / "python.jsonl.gz").exists()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ConfigError, match="there is no folder"):
        cli.run(["commits", "--out", str(tmp_path / "out"), str(tmp_path / "nowhere")])
