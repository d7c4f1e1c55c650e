"""Where a search looks: unquoted words, folders and files of a repository, and what refusals leave behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dowse.interfaces.cli.main import main

from helpers import run_dowse


@pytest.fixture
def indexed(sample_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An indexed repository, which is the current folder, and a cache of its own."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(sample_copy)
    assert main(["index", "-q"]) == 0
    return sample_copy


def indexes(tmp_path: Path) -> list[str]:
    folder = tmp_path / "cache" / "indexes"
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def paths(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["search", *arguments, "--format", "path"]) == 0
    return capsys.readouterr().out.splitlines()


# Words


def test_flags_may_stand_between_the_words(indexed, capsys):
    assert main(["search", "parse", "-k", "1", "cookie", "--json", "header"]) == 0
    assert json.loads(capsys.readouterr().out)["query"] == "parse cookie header"


def test_the_last_word_is_a_place_if_it_exists(indexed, capsys):
    assert main(["search", "order", "web", "--format", "path"]) == 0
    captured = capsys.readouterr()
    assert all(path.startswith("web/") for path in captured.out.splitlines())
    assert "searching in web" in captured.err and 'quote "order web"' in captured.err


def test_the_last_word_of_a_sentence_is_a_word(indexed, capsys):
    assert main(["search", "parse", "order", "web", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["query"] == "parse order web"
    assert any(not hit["path"].startswith("web/") for hit in answer["hits"])
    assert "web/ or ./web" in json.dumps(answer["notes"])


@pytest.mark.parametrize("place", ["web/", "./web", "web/api.ts"])
def test_what_can_only_be_a_place_is_one_behind_any_words(indexed, capsys, place):
    assert all(path.startswith("web/") for path in paths(capsys, "parse", "order", place))


def test_how_a_place_was_read_is_in_json(indexed, capsys):
    assert main(["search", "order", "web", "--json"]) == 0
    assert "searching in web" in json.dumps(json.loads(capsys.readouterr().out)["notes"])


def test_a_word_alone_is_no_place(indexed, capsys):
    assert main(["search", "web", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["query"] == "web"


@pytest.mark.parametrize("words", [("GET", "/api/users"), ("order", "/reg\\w+/"), ("x" * 500, "y" * 5000)])
def test_words_that_look_like_paths_and_do_not_exist_are_words(indexed, capsys, words):
    assert main(["search", *words]) in (0, 1)
    assert "searching in" not in capsys.readouterr().err


@pytest.mark.parametrize("place", ["./nothing", "../nothing", "~/nothing"])
def test_what_can_only_be_a_path_has_to_exist(indexed, capsys, place):
    assert main(["search", "order", place]) == 2
    usage, error = capsys.readouterr().err.splitlines()
    assert usage == "usage: dowse search [OPTION ...] QUERY ... [PATH]" and place in error


# Standard input


@pytest.mark.parametrize("words", [("-",), ()])
def test_a_query_from_standard_input(indexed, words):
    piped = run_dowse("search", *words, "--json", cwd=indexed, stdin="\x1b[31mparse\x1b[0m order\n")
    assert json.loads(piped.stdout)["query"] == "parse order"


def test_quotes_in_a_text_from_standard_input_may_be_nowhere(indexed):
    piped = run_dowse("search", "-", cwd=indexed, stdin='parse_order fails: "no such line" (lang:go)')
    assert piped.returncode == 0 and "its words count" in piped.stderr and "orders.py:" in piped.stdout
    assert run_dowse("search", "-", cwd=indexed, stdin='"no such line"').returncode == 1


def test_the_end_of_a_long_text_counts(indexed):
    text = "noise of a test run\n" * 5_000 + "parse_order"
    piped = run_dowse("search", "-", "--json", "--plain", cwd=indexed, stdin=text)
    query = json.loads(piped.stdout)["query"]
    assert len(query) <= 10_000 and query.startswith("noise") and query.endswith("\nparse_order")


def test_no_query_at_all(indexed):
    for stdin in ("", " \n"):
        refused = run_dowse("search", cwd=indexed, stdin=stdin)
        assert refused.returncode == 2 and refused.stderr.startswith("usage: dowse search ")


# Folders and files of a repository


def test_a_subfolder_is_searched_through_the_index_of_the_repository(indexed, capsys, monkeypatch, tmp_path):
    before = indexes(tmp_path)
    monkeypatch.chdir(indexed / "web")
    found = paths(capsys, "order")
    assert found and all((indexed / "web" / path).is_file() for path in found)
    assert "api.ts" in found
    everywhere = paths(capsys, "order", "--everywhere")
    assert "../src/bakery/orders.py" in everywhere
    assert indexes(tmp_path) == before


def test_a_file_is_searched_alone(indexed, capsys, tmp_path):
    before = indexes(tmp_path)
    assert set(paths(capsys, "order", "web/api.ts")) == {"web/api.ts"}
    assert set(paths(capsys, "/order/", str(indexed / "web" / "api.ts"), "-i")) == {
        str(indexed / "web" / "api.ts")
    }
    assert indexes(tmp_path) == before


@pytest.mark.parametrize(
    "query", ["order", "/e/", "what calls parse_order", "path:*.py order", "lang:python"]
)
def test_a_place_limits_every_kind_of_query(indexed, capsys, query):
    for place in ("tests", "src/bakery/orders.py", "web"):
        if main(["search", query, place, "--format", "path", "-k", "0"]) == 0:
            assert all(path.startswith(place) for path in capsys.readouterr().out.splitlines())
        else:
            assert f"only {place} was searched; --everywhere" in capsys.readouterr().err


def test_without_any_index_the_repository_is_indexed(sample_copy, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(sample_copy / "web")
    assert main(["search", "parse_order", "--everywhere", "-l"]) == 0
    captured = capsys.readouterr()
    assert f"indexing {sample_copy} (first use)" in captured.err
    assert captured.out.startswith("../src/bakery/orders.py")
    for command in (["index"], ["status"]):
        assert main(command) == 0
    assert f"root       {sample_copy}\n" in capsys.readouterr().out
    assert len(indexes(tmp_path)) == 1


def test_a_folder_with_an_index_of_its_own_is_searched_alone(indexed, capsys, monkeypatch, tmp_path):
    assert main(["index", "-q", "web"]) == 0
    assert len(indexes(tmp_path)) == 2
    monkeypatch.chdir(indexed / "web")
    assert "api.ts" in paths(capsys, "order")
    assert main(["status"]) == 0
    assert f"root       {indexed / 'web'}\n" in capsys.readouterr().out
    assert "../src/bakery/orders.py" in paths(capsys, "order", "--everywhere")


def test_outside_of_a_repository_the_nearest_index_above_counts(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    inner = tmp_path / "notes" / "deep"
    inner.mkdir(parents=True)
    (inner / "a.py").write_text("def zyxwvut(): ...\n")
    monkeypatch.chdir(inner)
    assert main(["index", "-q", str(tmp_path / "notes")]) == 0
    assert paths(capsys, "zyxwvut") == ["a.py"]
    assert len(indexes(tmp_path)) == 1


# Refusals


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "lang:klingon bread"),
        ("search", "a(", "--mode", "regex"),
        ("search", "bread", "--lanes", "nonsense"),
        ("search", "bread", "-k", "-1"),
        ("search", "bread", "-C", "-1"),
        ("search", "bread", "-A", "1", "--json"),
        ("search", "bread", "./nothing"),
        ("search", "bread", "FILE"),
        ("search", "bread", "CORPUS"),
        ("search",),
        ("index", "FILE"),
        ("index", "CORPUS"),
        ("symbols", "bread", "nothing"),
        ("callers", "bread", "FILE"),
        ("status",),
        ("clear",),
        ("export", ".", "out.zip"),
    ],
    ids=" ".join,
)
def test_a_refused_command_leaves_nothing_behind(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.stdin", None)
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text("def bread(): ...\n")
    (tmp_path / "elsewhere").mkdir()
    names = {"FILE": tmp_path / "elsewhere" / "note.txt", "CORPUS": tmp_path / "elsewhere" / "x.jsonl"}
    for file in names.values():
        file.write_text("no corpus\n")
    monkeypatch.chdir(folder)
    assert main([str(names.get(argument, argument)) for argument in arguments]) in (1, 2)
    assert capsys.readouterr().err.count("dowse: ") >= 1
    assert indexes(tmp_path) == []
    assert [path.name for path in folder.iterdir()] == ["a.py"]
