"""The lines for a question keep to the budget, are merged by file, and say why they are there."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from dowse import Index
from dowse.interfaces.cli.main import main
from dowse.search.token_budget import file_text
from dowse.token_estimate import estimate_tokens

from helpers import index_tree, write_tree

FILES = {
    "src/oven.py": "import clock\n\n\nclass Oven:\n    def heat_up(self, degrees):\n        return degrees\n"
    "\n    def cool_down(self):\n        return self.heat_up(0)\n"
    "\n    def wipe(self):\n        return None\n",
    "src/bakery.py": "from src.oven import Oven\n\n\ndef bake_bread(dough):\n    oven = Oven()\n"
    "    oven.heat_up(230)\n    return dough\n",
    "tests/test_oven.py": "from src.oven import Oven\n\n\n"
    "def test_the_oven_heats():\n    Oven().heat_up(3)\n",
    "README.md": "# Oven\n\nThe oven heats up to 300 degrees before bread is baked.\n",
    "src/long.py": "def proof_dough(hours):\n" + "".join(f"    step_{n} = hours + {n}\n" for n in range(300)),
}
QUESTION = "`heat_up` of the oven never reaches 230 degrees when bread is baked"


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return index_tree(tmp_path_factory.mktemp("context") / "code", FILES)


def test_code_is_shown_by_file_and_definitions_come_before_their_uses(bakery: Index) -> None:
    answer = bakery.context(QUESTION, 2_000)
    paths = [file.path for file in answer.files]
    assert paths[:2] == ["src/oven.py", "src/bakery.py"] and len(set(paths)) == len(paths)
    assert not {"README.md", "tests/test_oven.py"} & set(paths)
    ranges = {each.symbol: each for each in answer.files[0].ranges}
    assert ranges["Oven.heat_up"].reason.startswith("named, rank ")
    assert ranges["Oven.wipe"].reason in ("same file", "rank 7")
    starts = [each.start_line for each in answer.files[0].ranges]
    assert starts == sorted(starts)
    assert (5, "def heat_up(self, degrees):") in ranges["Oven.heat_up"].lines


@pytest.mark.parametrize("tokens", [40, 100, 300, 1_000])
def test_the_budget_is_kept(bakery: Index, tokens: int) -> None:
    for question in (QUESTION, "proof dough for hours", "step_250"):
        answer = bakery.context(question, tokens)
        text = "\n\n".join(map(file_text, answer.files))
        assert estimate_tokens(text) == answer.tokens <= tokens


def test_of_a_long_function_the_matching_lines_are_shown(bakery: Index) -> None:
    answer = bakery.context("why does proof_dough assign step_250", 600)
    (file,) = [each for each in answer.files if each.path == "src/long.py"]
    numbers = [number for each in file.ranges for number, _ in each.lines]
    assert {1, 252} <= set(numbers) and len(numbers) < 100 and "…" in file_text(file)


def test_tests_and_documents_are_shown_if_they_are_asked_for(bakery: Index) -> None:
    assert "tests/test_oven.py" in {each.path for each in bakery.context("test that the oven heats").files}
    assert "README.md" in {each.path for each in bakery.context("documentation of the oven").files}


@pytest.mark.parametrize("place", ["src", "src/bakery.py", "tests"])
def test_only_the_folder_or_file_that_is_named_is_shown(bakery: Index, tmp_path: Path, capfd, place) -> None:
    inside = bakery.context(QUESTION, 2_000, within=place)
    assert inside.files and all(f"{each.path}/".startswith(f"{place}/") for each in inside.files)
    root = write_tree(tmp_path / "code", {**FILES, ".git/HEAD": "ref: refs/heads/main\n"})
    assert main(["context", QUESTION, str(root / place), "--tokens", "2000", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)["context"]
    assert [each["path"] for each in shown] == [each.path for each in inside.files]


@pytest.mark.parametrize(
    ("text", "tokens", "said"),
    [(QUESTION, 3, "nothing fits into 3 tokens; raise --tokens"), ("zzz", 900, "is about this")],
)
def test_why_nothing_is_shown_is_told(bakery: Index, capfd, text: str, tokens: int, said: str) -> None:
    where = [str(bakery.root), "--index-dir", bakery.backend.address]
    assert main(["context", text, *where, "--tokens", str(tokens)]) == 1
    out, err = capfd.readouterr()
    assert out == "" and said in err


def test_the_command(bakery: Index, capfd, monkeypatch) -> None:
    root = str(bakery.root)
    where = ["--index-dir", str(Path(bakery.backend.address))]
    assert main(["context", QUESTION, root, *where, "--tokens", "500"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("src/oven.py\n@ ") and "def heat_up(self, degrees):\n" in out
    monkeypatch.setattr("sys.stdin", io.StringIO(QUESTION))
    assert main(["context", "-", root, *where, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["max_tokens"] == 8_000 and found["context"][0]["path"] == "src/oven.py"
    assert main(["context", "x", root, *where, "--tokens", "0"]) == 2
    assert main(["context", '"heat up', root, *where]) == 0
    assert "never closed" in capfd.readouterr().err
    assert main(["context", f'{QUESTION}: "no such line" in path:gone.py', root, *where]) == 0
    assert capfd.readouterr().out.startswith("src/oven.py\n")
