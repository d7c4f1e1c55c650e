"""`dowse feedback` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse import Index
from dowse.config import feedback_file
from dowse.feedback.events import EVENT_KINDS
from dowse.interfaces.cli.main import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys, sample: Path, sample_index: Index, tmp_path: Path, monkeypatch) -> Run:
    """Run a command on the sample in this process; returns exit code, output and what was said beside."""
    monkeypatch.setenv("DOWSE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(sample)

    def command(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "--index-dir", str(sample_index.backend.folder)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


def test_record_list_search_and_forget(run):
    assert run("feedback", "list")[0] == 1
    code, out, _ = run("feedback", "record", "bake some bread", "Dough.rise")
    assert (code, out) == (0, "up: src/bakery/bread.py:18 Dough.rise for “bake some bread”\n")
    code, out, _ = run("feedback", "list")
    assert code == 0
    assert out.split("\t")[:2] == ["1×      bake some bread", "src/bakery/bread.py:18 Dough.rise"]
    assert run("search", "bake some bread")[1].startswith("src/bakery/bread.py:18")
    assert "chosen once for this query" in run("search", "bake some bread", "--explain")[1]
    assert not run("search", "bake some bread", "--no-feedback")[1].startswith("src/bakery/bread.py:18")
    assert (
        run("feedback", "reset", "--query", "Bake some bread?")[1]
        == "forgot 1 choice for “Bake some bread?”\n"
    )
    assert run("feedback", "reset", "--query", "bake some bread")[0] == 1
    assert run("feedback", "list")[:2] == (1, "")


def test_json_and_export(run):
    for kind in EVENT_KINDS:
        run("feedback", "record", "bake bread", "bake_bread", "--kind", kind)
    run("feedback", "record", "who rises", "Dough.rise", "--kind", "click")
    found = json.loads(run("feedback", "list", "--json", "--query", "bake bread")[1])
    assert [(each["chosen"], each["down"], each["visitors"]) for each in found] == [(4, 1, 1)]
    assert found[0]["location"].endswith("bake_bread")
    lines = [json.loads(line) for line in run("feedback", "export")[1].splitlines()]
    assert [line["kind"] for line in lines] == ["click", *reversed(EVENT_KINDS)]
    assert {line["visitor"] for line in lines} == {"cli"}
    assert run("feedback", "list", "-k", "1")[1].count("\n") == 1


def test_mistakes_are_said_with_their_remedy(run, sample):
    code, _, err = run("feedback", "record", "bake bread", "no_such_function")
    assert code == 2 and "no_such_function" in err
    place = feedback_file(sample.resolve())
    place.parent.mkdir(parents=True)
    place.write_bytes(b"not a database" * 100)
    code, _, err = run("feedback", "list")
    assert code == 2 and f"kept as {place}.damaged-1" in err
    assert run("feedback", "list")[0] == 1
    place.write_bytes(b"not a database" * 100)
    assert run("feedback", "reset", "--all")[0] == 0
    assert list(place.parent.iterdir()) == []
    with pytest.raises(SystemExit):
        run("feedback", "reset")


def test_switched_off_nothing_is_recorded_and_the_list_says_so(run, monkeypatch):
    run("feedback", "record", "bake bread", "bake_bread")
    monkeypatch.setenv("DOWSE_FEEDBACK", "off")
    code, _, err = run("feedback", "record", "bake bread", "bake_bread")
    assert code == 2 and "switched off" in err
    assert "switched off" in run("feedback", "list")[2]
