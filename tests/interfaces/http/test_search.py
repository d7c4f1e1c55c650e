"""Searching over HTTP: the command line's answers, in pages, from one index or several."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from dowse import Index
from dowse.json_form import document
from dowse.search.options import OPTIONS
from dowse.services.web.options import ServeOptions
from interfaces.http.running import Running, running

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "answer.schema.json").read_text())


def test_answer_has_the_command_lines_json(server: Running, bakery: Index) -> None:
    over_http = server.get("search", q="price of bread", index="bakery", k=5, explain=True)
    here = json.loads(json.dumps(document(bakery.search("price of bread", k=6, explain=True))))
    jsonschema.validate(over_http, SCHEMA)
    for name in ("schema", "query", "mode", "generation", "candidates", "notes", "embedded", "plan"):
        assert over_http[name] == here[name]
    assert [{k: v for k, v in hit.items() if k != "index"} for hit in over_http["hits"]] == here["hits"][:5]
    assert {hit["index"] for hit in over_http["hits"]} == {"bakery"}


def test_contributions_sum_to_the_score(server: Running) -> None:
    for hit in server.get("search", q="where is bread sold", k=20, explain=True)["hits"]:
        assert sum(part["value"] for part in hit["explanation"]) == pytest.approx(hit["score"], abs=1e-4)


@pytest.mark.parametrize("index", ["bakery", None])
def test_pagination_is_consistent(server: Running, index: str | None) -> None:
    asked = {"q": "bread", **({"index": index} if index else {})}
    whole = server.get("search", k=12, **asked)["hits"]
    pages = [server.get("search", k=4, offset=offset, **asked) for offset in (0, 4, 8)]
    assert [hit for page in pages for hit in page["hits"]] == whole
    assert [hit["rank"] for hit in whole] == list(range(1, len(whole) + 1))
    assert [page["offset"] for page in pages] == [0, 4, 8]


def test_a_longer_page_of_shares_begins_like_a_shorter_one(server: Running) -> None:
    asked = {"q": "sell bread", "index": "bakery", "diversify": "sample"}
    short = server.get("search", k=4, **asked)["hits"]
    longer = server.get("search", k=8, page_size=4, **asked)["hits"]
    assert [hit["id"] for hit in longer[:4]] == [hit["id"] for hit in short]
    assert [hit["id"] for hit in longer[4:]] == [
        hit["id"] for hit in server.get("search", k=4, offset=4, **asked)["hits"]
    ]


def test_more_says_whether_another_page_exists(server: Running) -> None:
    found = len(server.get("search", q="kind:class", index="bakery", k=100)["hits"])
    assert 1 < found < 100
    assert server.get("search", q="kind:class", index="bakery", k=found - 1)["more"]
    assert not server.get("search", q="kind:class", index="bakery", k=found)["more"]
    assert server.get("search", q="kind:class", index="bakery", k=5, offset=found)["hits"] == []


def test_filters_come_as_parameters_too(server: Running) -> None:
    hits = server.get("search", q="bread", lang=["python"], exclude=["tests/**"], index="bakery", k=50)[
        "hits"
    ]
    assert hits
    assert all(hit["language"] == "python" and not hit["path"].startswith("tests/") for hit in hits)
    both = server.get("search", q="bread", lang=["python", "java"], kind=["class"], index="bakery", k=50)[
        "hits"
    ]
    assert {hit["language"] for hit in both} <= {"python", "java"} and {hit["kind"] for hit in both} == {
        "class"
    }


def test_a_parameter_says_nothing_but_its_value(server: Running) -> None:
    """What closes the quotes of a filter would otherwise be more of the query language."""
    hits = server.get("search", q="bread", path=['x" OR path:"**'], index="bakery")["hits"]
    assert hits == []


def test_lines_of_a_pattern(server: Running) -> None:
    hits = server.get("search", q=r"/def \w+bread/", k=50)["hits"]
    assert "buy_bread" in {hit["name"] for hit in hits}
    for match in (match for hit in hits for match in hit["matches"]):
        start, end = match["spans"][0]
        assert match["text"][start:end].startswith("def ") and match["text"][start:end].endswith("bread")


def test_several_indexes_answer_as_one(server: Running) -> None:
    answer = server.get("search", q="bread", mode="keyword", k=100)
    jsonschema.validate(answer, SCHEMA)
    assert {hit["index"] for hit in answer["hits"]} == {"bakery", "inn"}
    assert [part["index"] for part in answer["indexes"]] == ["bakery", "inn"]
    for name in ("bakery", "inn"):
        alone = server.get("search", q="bread", mode="keyword", k=100, index=name)["hits"]
        assert [hit["id"] for hit in answer["hits"] if hit["index"] == name] == [hit["id"] for hit in alone]


def test_scores_of_different_fusions_are_not_compared(server: Running) -> None:
    """One index has vectors, the other has none: its scores are on another scale, so both take turns."""
    hits = server.get("search", q="clean the rooms", k=6)["hits"]
    assert {hits[0]["index"], hits[1]["index"]} == {"bakery", "inn"}


@pytest.mark.parametrize("mode", ["embedding", "hybrid"])
def test_an_index_that_cant_answer_is_left_out_if_others_can(server: Running, mode: str) -> None:
    """One of them has no encoder: what it can't do, the other still does."""
    answer = server.get("search", q="clean the rooms", mode=mode)
    assert {hit["index"] for hit in answer["hits"]} == {"bakery"}
    assert any(note["text"].startswith("inn is left out: there is no encoder") for note in answer["notes"])
    alone = server.get("search", 400, q="clean the rooms", mode=mode, index="inn")
    assert "encoder" in alone["remedy"]


def test_no_mode_is_left_out(server: Running) -> None:
    for mode in ("hybrid", "keyword", "tfidf", "embedding", "graph", "symbol"):
        answer = server.get("search", q="bake", index="bakery", mode=mode)
        assert answer["mode"] == mode


def test_what_can_be_asked_of_the_ranking(server: Running) -> None:
    for more in (
        {"expand": True},
        {"diversify": "mmr"},
        {"diversify": "sample", "clustering": "meaning"},
        {"fusion": "rrf"},
        {"lanes": "keyword,embedding"},
        {"fuzziness": "2"},
        {"min_score": 0.01},
        {"plain": True, "filters": "lang:python"},
    ):
        assert server.get("search", q="sell bread", index="bakery", **more)["hits"], more


def test_invalid_query_has_a_position(server: Running) -> None:
    problem = server.get("search", 400, q="bread lang:klingon")
    assert problem["position"] == 6 and "klingon" in problem["detail"]
    assert server.get("search", 400, q="(", mode="regex")["type"].endswith("bad-query")


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"k": 101},
        {"offset": -1},
        {"mode": "psychic"},
        {"min_score": "nan"},
        {"q": "x" * 10_001},
        {"q": None},
    ],
)
def test_invalid_parameters_are_listed(server: Running, wrong: dict[str, object]) -> None:
    asked = {"q": "bread", **wrong}
    problem = server.get("search", 422, **{name: value for name, value in asked.items() if value is not None})
    assert problem["fields"][0]["field"] == f"query.{next(iter(wrong))}"


def test_an_unknown_index_names_those_there_are(server: Running) -> None:
    problem = server.get("search", 404, q="bread", index="butchery")
    assert "bakery, inn" in problem["detail"]
    server.get("search", 400, q="bread", lanes="sonar")


def test_default_options_are_those_of_the_settings(bakery: Index, inn: Index) -> None:
    changed = replace(inn.settings, clustering="spectral", diversify="cluster", feedback=False)
    with running([bakery, Index(inn.root, changed, inn.backend)]) as server:
        both, one = server.get("options"), server.get("options", index="inn")
        assert (both["clustering"], both["diversify"], both["fusion"]) == (None, None, "auto")
        assert (one["clustering"], one["diversify"], one["feedback"]) == ("spectral", "cluster", False)
        assert one.keys() == {spec.name for spec in OPTIONS.values() if spec.in_http}
        # What is given back unchanged changes nothing, and a default can be switched off.
        given = {name: value for name, value in one.items() if value not in ("", [], None)}
        query = {"q": "sweep the floor", "index": "inn", "explain": True}
        assert server.get("search", **{**given, **query})["hits"] == server.get("search", **query)["hits"]
        assert server.get("search", **query, diversify="")["hits"]
    with running([bakery], ServeOptions(feedback=False)) as server:
        assert server.get("options")["feedback"] is False
