"""How a search is answered, chosen on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from dowse import Index
from dowse.interfaces.cli.main import COMMANDS, main, parse_arguments
from dowse.interfaces.cli.query_words import read_query
from dowse.search.options import OPTIONS

from helpers import write_tree

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "answer.schema.json").read_text())
VALID = jsonschema.Draft202012Validator(SCHEMA)
Run = Callable[..., tuple[int, str, str]]
DEFAULT_DIVERSIFY = OPTIONS["diversify"].value_without


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A tiny embedded index, for answers of all lanes."""
    place = tmp_path_factory.mktemp("kitchen")
    code = {
        "bread.py": '''
def knead_dough(minutes):
    """Work the flour and water until they are smooth."""
    return minutes * 2


def bake_bread(oven):
    """Heat a loaf until it is brown."""
    knead_dough(10)
    return oven.heat(220)


def serve_breakfast(table):
    """Bring food to those who are hungry."""
    return [table, bake_bread(None)]
''',
        "clean.go": """package kitchen

// WashDishes makes plates clean again.
func WashDishes(n int) int { return n }
""",
    }
    index = Index.open(
        write_tree(place / "kitchen", code),
        index_dir=str(place / "index"),
        encoder="small",
        threads=1,
        refresh="never",
    )
    index.update()
    return index


def runner(index: Index, capsys: pytest.CaptureFixture[str], *more: str) -> Run:
    """Return what runs `search` on an index in this process: exit code, output, what was said beside."""

    def run(*arguments: object) -> tuple[int, str, str]:
        place = [str(index.root), "--index-dir", str(index.backend.folder), "--refresh", "never", *more]
        code = main(["search", *map(str, arguments), *place])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def run(kitchen: Index, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(kitchen, capsys, "--encoder", "small")


def answer(run: Run, *arguments: object) -> dict:
    """Return the one JSON document of a search, checked against the schema."""
    _, out, _ = run(*arguments, "--json")
    VALID.validate(json.loads(out))
    return json.loads(out)


# Lanes and fusion


@pytest.mark.parametrize(
    "arguments",
    [
        ["--diversify", "bake bread"],
        ["bake bread", "--diversify"],
        ["bake bread", "--diversify", DEFAULT_DIVERSIFY],
        [f"--diversify={DEFAULT_DIVERSIFY}", "bake bread"],
    ],
)
def test_diversify_alone_is_the_usual_way_and_takes_no_query(run, arguments):
    found = answer(run, *arguments, "--explain")
    assert found["query"] == "bake bread"
    assert all(hit["explanation"][-1]["source"] == "diversity" for hit in found["hits"])
    assert found["hits"] == answer(run, "bake bread", "--diversify", DEFAULT_DIVERSIFY, "--explain")["hits"]


def test_clustering_is_chosen(run):
    _, out, _ = run("bake bread", "--diversify", "cluster", "--clustering", "meaning", "--explain")
    assert "cluster 1 of" in out
    with pytest.raises(SystemExit):
        run("bake bread", "--clustering", "astrology")


def test_after_two_dashes_an_option_is_text():
    options = parse_arguments(["search", "--diversify", "--", "--diversify"])
    query, path, *_ = read_query(options.words)
    assert (options.option_diversify, query, path) == (DEFAULT_DIVERSIFY, "--diversify", ".")


@pytest.mark.parametrize(
    "words",
    [
        ["query", "folder", "--json"],
        ["query", "--json", "folder"],
        ["--json", "query", "folder"],
        ["--json", "--", "query", "folder"],
        ["query", "--json", "--", "folder"],
    ],
)
def test_flags_and_positional_arguments_may_be_mixed(words, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    options = parse_arguments(["search", *words])
    query, path, *_ = read_query(options.words)
    assert (query, path, options.json) == ("query", "folder", True)


@pytest.mark.parametrize("lanes", ["telepathy", "keyword,telepathy", ","])
def test_unknown_lanes_are_told(run, lanes):
    code, out, err = run("bread", "--lanes", lanes)
    assert (code, out) == (2, "")
    assert err.startswith("dowse: ") and "keyword, tfidf, embedding, graph" in err and err.count("\n") == 1


def test_settings_of_the_environment(run, monkeypatch):
    monkeypatch.setenv("DOWSE_FUSION", "rrf")
    monkeypatch.setenv("DOWSE_EXPAND", "yes")
    found = answer(run, "heat a loaf")
    assert found["plan"]["fusion"] == "rrf" and found["plan"]["expanded"]
    found = answer(run, "heat a loaf", "--fusion", "convex", "--no-expand")
    assert found["plan"]["fusion"] == "convex" and found["plan"]["expanded"] == []


# Expansion


def test_expand(run):
    assert answer(run, "heat a loaf")["plan"]["expanded"] == []
    added = answer(run, "heat a loaf", "--expand")["plan"]["expanded"]
    assert added and not {"heat", "loaf"} & set(added)
    _, out, _ = run("heat a loaf", "--expand", "--explain")
    assert f"expanded  {', '.join(added)}" in out.splitlines()


# What is said about the plan


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (
            "how is food made",
            ["plan      words: meaning first; worded like topic ", "fusion    blend", "embedded  "],
        ),
        (
            "bake_bread",
            ["plan      a name and nothing else", "fusion    convex", "graph     around bake_bread"],
        ),
        (
            "what calls bake_bread",
            [
                "plan      asks for callers of bake_bread",
                "fusion    weighted",
                "graph     callers bake_bread",
            ],
        ),
        ("/bake_\\w+/", ["plan      a pattern"]),
        ("lang:go", ["plan      filters alone", "lanes     keyword ("]),
    ],
)
def test_explain_prints_the_plan(run, query, told):
    code, out, _ = run(query, "--explain")
    head, _, hits = out.partition("\n\n")
    assert code == 0 and hits
    for line in told:
        assert any(each.startswith(line) for each in head.splitlines()), head
    assert "plan " not in run(query)[1]


# JSON


@pytest.mark.parametrize(
    "arguments",
    [
        ("how is food made", "--explain"),
        ("how is food made", "--fusion", "convex"),
        ("bake_bread",),
        ("where does knead_dough mix flour", "-k", 50),
        ("what calls bake_bread", "--explain"),
        ("what calls the function that heats a loaf",),
        ("how is food made", "--mode", "embedding"),
        ("how is food made", "--mode", "tfidf"),
        ("bake_bread", "--mode", "graph"),
        ("heat a loaf", "--expand"),
        ("/bake/",),
        ("lang:go",),
        ("no such thing", "--mode", "graph"),
    ],
)
def test_json_is_what_the_schema_says(run, arguments):
    found = answer(run, *arguments)
    assert found["query"] == arguments[0]
    assert [lane["lane"] for lane in found["lanes"]] in ([], found["plan"]["lanes"])


def test_every_field_is_described():
    text = (Path(__file__).parents[3] / "docs" / "JSON.md").read_text().partition("## The graph")[0]
    for field in (
        field for name in ("Answer", "Hit", "PlanReport") for field in SCHEMA["$defs"][name]["properties"]
    ):
        assert any(f"{before}{field}{after}" in text for before in "`." for after in ("`", "[]`")), field


# What `--help` shows


def shown_flags(help_text: str) -> list[str]:
    """Return the flags that a help lists, each by its first name."""
    return re.findall(r"^  (--?[\w-]+)", help_text, re.MULTILINE)


def test_help_shows_what_people_use_and_help_all_the_rest(capsys):
    texts = []
    for flag in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as ended:
            main(["search", flag])
        assert ended.value.code == 0
        texts.append(capsys.readouterr().out)
    usual, everything = map(shown_flags, texts)
    assert len(usual) <= 26 and set(usual) < set(everything)
    assert {"--fusion", "--lanes", "--diversify", "--no-daemon"} <= {*everything} - {*usual}
    titles = ["what to search:", "how to match and rank:", "what to show:", "the index:"]
    assert [line for line in texts[0].splitlines() if line in titles] == titles


def test_dowse_alone_prints_the_help_with_grouped_commands(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    titles = ["search:", "structure:", "serve:", "index:", "evaluate:", "set up:"]
    assert [line for line in lines if line in titles] == titles
    assert {line.split()[0] for line in lines if line.startswith("  ")} >= set(COMMANDS)
