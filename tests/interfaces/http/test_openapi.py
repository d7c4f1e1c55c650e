"""The OpenAPI document: whole, typed, and true."""

from __future__ import annotations

import typing
from collections.abc import Iterator

import pytest

from dowse.feedback.events import EVENT_KINDS
from dowse.graph.model import RELATIONS
from dowse.interfaces.http.app import create_app
from dowse.interfaces.http.routes.feedback import FeedbackRequest
from dowse.interfaces.http.routes.symbol import Relation
from dowse.services.web.options import ServeOptions
from interfaces.http.running import Running

OPERATIONS = {
    "search": "SearchPage",
    "options": "SearchDefaults",
    "symbol": "SymbolPage",
    "graph": "GraphPage",
    "graphPath": "GraphPage",
    "related": "RelatedPage",
    "log": "LogPage",
    "suggest": "Suggestions",
    "evals": "Evals",
    "evalReport": "EvalReport",
    "evalCases": "EvalCases",
    "status": "Status",
    "skipped": "SkippedFiles",
    "reindex": "ReindexAnswer",
    "events": "",
    "listFeedback": "FeedbackAnswer",
    "recordFeedback": "RecordedEvent",
    "resetFeedback": "FeedbackReset",
    "health": "Health",
    "metrics": "",
}


def operations(document: dict) -> Iterator[dict]:
    for item in document["paths"].values():
        yield from item.values()


def test_every_operation_has_a_name_and_a_form(server: Running) -> None:
    document = server.get("openapi.json")
    found = {each["operationId"]: each for each in operations(document)}
    assert set(found) == set(OPERATIONS)
    for name, form in OPERATIONS.items():
        answers = found[name]["responses"]
        good = next(answer for status, answer in answers.items() if status.startswith("2"))
        if form:
            assert good["content"]["application/json"]["schema"]["$ref"].endswith(f"/{form}")
        for status in ("4XX", "5XX"):
            content = answers[status]["content"]
            assert content["application/problem+json"]["schema"]["$ref"].endswith("/Problem")
            assert len(content) == 1
        assert found[name]["summary"] and found[name]["description"] and len(found[name]["tags"]) == 1
    tags = {each["name"]: each["description"] for each in document["tags"]}
    assert set(tags) == {tag for each in found.values() for tag in each["tags"]} and all(tags.values())
    (scheme,) = document["components"]["securitySchemes"]
    assert document["security"] == []  # this server asks for none
    assert create_app([], ServeOptions(token="x")).openapi()["security"] == [{scheme: []}]


def test_every_path_has_the_version(server: Running) -> None:
    """But metrics, which are looked for in one place."""
    paths = set(server.get("openapi.json")["paths"])
    assert {path for path in paths if not path.startswith("/api/v1/")} == {"/metrics"}


def test_every_field_has_a_type(server: Running) -> None:
    """A field without one would be `unknown` in the page's client."""
    for name, schema in server.get("openapi.json")["components"]["schemas"].items():
        if name == "JsonValue":
            continue  # anything, on purpose
        for field, facts in schema["properties"].items():
            assert {"type", "$ref", "anyOf", "enum", "const"} & set(facts), (name, field)
        assert schema["additionalProperties"] is False, name


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Relation, tuple(name for name in RELATIONS if name != "path")),
        (FeedbackRequest.model_fields["kind"].annotation, EVENT_KINDS),
    ],
)
def test_choices_are_those_of_the_library(kind: object, values: tuple[str, ...]) -> None:
    assert typing.get_args(kind) == values


def test_figures_for_prometheus(server: Running) -> None:
    from prometheus_client.parser import text_string_to_metric_families as families

    server.get("search", q="bread", index="bakery")
    server.get("search", 404, q="bread", index="butchery")
    answer = server.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    found = {(s.name, *sorted(s.labels.items())): s.value for f in families(answer.text) for s in f.samples}
    asked = "dowse_requests_total", ("operation", "search")
    assert found[(*asked, ("status", "200"))] >= 1 and found[(*asked, ("status", "404"))] >= 1
    assert found[("dowse_index_symbols", ("index", "bakery"))] > 10
    assert found[("dowse_request_seconds_count", ("operation", "search"))] >= 2
    assert found[("dowse_in_flight",)] == 1  # this one
