"""Reports over HTTP: the shipped ones, the user's own, question by question."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.services.reports import shipped_folder
from dowse.services.web.options import ServeOptions
from interfaces.http.running import Running, running

IDS = ["one", "two", "three"]


def row(mode: str, values: list[float], difference: dict | None = None) -> dict:
    mean = sum(values) / len(values)
    return {
        "mode": mode,
        "metrics": {"mrr@100": mean, "ndcg@10": mean},
        "intervals": {"mrr@100": [0.1, 0.9]},
        "latency": {"p50_ms": 5.0},
        "values": {"mrr@100": values, "ndcg@10": values},
        "difference": difference,
    }


def report(date: str, hybrid: list[float]) -> dict:
    different = {"mean": 0.1, "low": 0.0, "high": 0.2, "p": 0.04, "real": True}
    told = [{"id": "two", "query": "where is two", "found": ["a.py"], "relevant": ["b.py"]}]
    return {
        "dowse_report": 1,
        "about": {"date": date, "commit": ["abc", "def"], "settings": {"fusion": "auto"}},
        "sets": [
            {
                "dataset": {"name": "mine", "metric": "mrr@100", "cases": 3},
                "against": "keyword",
                "ids": IDS,
                "rows": [row("keyword", [1.0, 0.0, 0.5]), row("hybrid", hybrid, different)],
                "worst": {"mode": "keyword", "cases": told},
            }
        ],
        "means": [],
    }


@pytest.fixture(scope="module")
def run(inn: Index, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("reports")
    (folder / "older.json").write_text(json.dumps(report("2026-01-01", [0.5, 0.25, 0.5])))
    (folder / "newer.json.gz").write_bytes(
        gzip.compress(json.dumps(report("2026-02-01", [1, 1, 0.2])).encode())
    )
    (folder / "broken.json").write_text("{")
    (folder / "other.json").write_text('{"about": 1}')
    (folder / "notes.txt").write_text("no report")
    with running([inn], ServeOptions(reports=(folder,))) as run:
        yield run


def test_own_reports_come_first_the_latest_before(run: Running) -> None:
    listed = run.get("eval")
    own = [each for each in listed["reports"] if each["source"] == "own"]
    assert [each["name"] for each in listed["reports"][:2]] == ["newer", "older"]
    assert len(own) == 2 and own[0]["commit"] == "abc, def" and own[0]["cases"] == 3
    assert [row["mode"] for row in own[0]["means"]] == ["keyword", "hybrid"]
    assert {problem.partition(":")[0] for problem in listed["problems"]} == {"broken.json", "other.json"}


def test_the_shipped_figures_are_there(run: Running) -> None:
    shipped = {each["id"]: each for each in run.get("eval")["reports"] if each["source"] == "shipped"}
    assert {"sets", "repos", "git", "docs"} <= set(shipped)
    for name in shipped:
        whole = run.get(f"eval/{name}")
        assert whole["sets"] and all(each["rows"] for each in whole["sets"])
    saved = json.loads(gzip.decompress((shipped_folder() / "sets.json.gz").read_bytes()))
    over_http = run.get("eval/sets")["sets"]
    assert [[row["metrics"] for row in each["rows"]] for each in over_http] == [
        [row["metrics"] for row in each["rows"]] for each in saved["sets"]
    ]


def test_one_report(run: Running) -> None:
    newest = run.get("eval")["reports"][0]
    whole = run.get(f"eval/{newest['id']}")
    [mine] = whole["sets"]
    assert (mine["name"], mine["against"], mine["best"]) == ("mine", "keyword", "hybrid")
    assert mine["rows"][0]["difference"] is None and mine["rows"][1]["difference"]["real"]
    assert whole["about"]["settings"] == {"fusion": "auto"}


def test_cases_are_paginated(run: Running) -> None:
    newest = run.get("eval")["reports"][0]["id"]
    worst = run.get(f"eval/{newest}/cases")
    assert worst["mode"] == "keyword" and [case["id"] for case in worst["cases"]] == ["two", "three", "one"]
    first = worst["cases"][0]
    assert (first["query"], first["found"], first["rank"], first["other"]) == (
        "where is two",
        ["a.py"],
        None,
        None,
    )
    assert [case["rank"] for case in worst["cases"][1:]] == [2, 1]
    best = run.get(f"eval/{newest}/cases", order="best", k=2)
    assert best["more"] and [case["id"] for case in best["cases"]] == ["one", "three"]
    rest = run.get(f"eval/{newest}/cases", order="best", k=2, offset=2)
    assert not rest["more"] and [case["id"] for case in rest["cases"]] == ["two"]


def test_two_runs_side_by_side(run: Running) -> None:
    newer, older = (each["id"] for each in run.get("eval")["reports"][:2])
    won = run.get(f"eval/{newer}/cases", mode="hybrid", other=older, other_mode="hybrid", order="won")
    assert [(case["id"], case["value"], case["other"]["value"]) for case in won["cases"]] == [
        ("two", 1.0, 0.25),
        ("one", 1.0, 0.5),
        ("three", 0.2, 0.5),
    ]
    lost = run.get(f"eval/{newer}/cases", mode="hybrid", other=older, other_mode="hybrid", order="lost")
    assert lost["cases"][0]["id"] == "three"


@pytest.mark.parametrize("name", ["nobody", "..%2F..%2Fetc%2Fpasswd", "older.json", "%00"])
def test_unknown_reports(run: Running, name: str) -> None:
    run.get(f"eval/{name}", 404)


def test_unknown_parts(run: Running) -> None:
    newest = run.get("eval")["reports"][0]["id"]
    for asked in ({"set": "yours"}, {"mode": "psychic"}, {"metric": "luck"}, {"other": "nobody"}):
        run.get(f"eval/{newest}/cases", 404, **asked)


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ('"latency": {"p50_ms": 5.0}', '"latency": {"p50_ms": NaN}'),
        ('"latency": {"p50_ms": 5.0}', '"latency": {"p50_ms": "fast"}'),
        ('"intervals"', '"interval"'),
        ('"difference"', '"differences"'),
        ('"means": []', '"means": [3]'),
    ],
)
def test_a_report_that_cant_be_shown_hides_no_other(
    inn: Index, tmp_path: Path, said: str, instead: str
) -> None:
    good = json.dumps(report("2026-01-01", [0.5, 0.25, 0.5]))
    (tmp_path / "good.json").write_text(good)
    (tmp_path / "bad.json").write_text(good.replace(said, instead))
    with running([inn], ServeOptions(reports=(tmp_path,))) as run:
        listed = run.get("eval")
        assert [each["name"] for each in listed["reports"] if each["source"] == "own"] == ["good"]
        assert [problem.partition(":")[0] for problem in listed["problems"]] == ["bad.json"]


def test_reports_of_a_repository_hold_up_no_other_request(inn: Index, tmp_path: Path) -> None:
    """However long it takes to read them, the server answers whether it is well."""
    with running([inn], ServeOptions(reports=(tmp_path,))) as run:
        with run.state.reports._lock:  # somebody is reading them
            assert run.get("health")["status"] == "ok"
        (tmp_path / "bomb.json.gz").write_bytes(gzip.compress(b"[" * 30_000_000))
        assert len(run.get("eval")["problems"]) == 1


def test_a_file_that_changes_is_read_again(inn: Index, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    with running([inn], ServeOptions(reports=(tmp_path,))) as run:
        file.write_text(json.dumps(report("2026-01-01", [0.5, 0.25, 0.5])))
        first = run.get("eval")["reports"][0]
        file.write_text(json.dumps(report("2026-01-01", [0.5, 0.25, 0.75])))
        again = run.get("eval")["reports"][0]
        assert first["id"] == again["id"] and first["means"] != again["means"]
        file.unlink()
        assert run.get("eval")["reports"][0]["source"] == "shipped"
