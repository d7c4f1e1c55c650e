"""Reports of repositories that anybody wrote: bounded, checked, and not read before somebody asks."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import EvalError
from dowse.eval.reports.html import render_html
from dowse.eval.reports.json_form import from_json, to_json
from dowse.eval.reports.markdown import render_markdown
from dowse.eval.reports.saved import read_report
from dowse.eval.reports.text import render_text
from dowse.security.safe_files import read_regular_file
from dowse.services.reports import MAX_FILES, Reports
from eval.report_samples import small_report, varied_report

_MEASURE = """
import sys
from pathlib import Path
from dowse.services.reports import Reports
root = Path(sys.argv[1])
found, problems = Reports([], [(root, root)], shipped=root / "none").all()
print(len(found), len(problems))
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
print(next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0))
"""


def good() -> dict[str, Any]:
    return json.loads(json.dumps(to_json(small_report())))


def listed(folder: Path, data: bytes, name: str = "x.json") -> tuple[list[str], list[str]]:
    """Return names and problems of a repository's only report."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    found, problems = Reports([], [(folder, folder)], shipped=folder / "none").all()
    return [saved.name for saved in found], problems


def test_good_reports_are_shown(tmp_path: Path) -> None:
    for number, report in enumerate((small_report(), varied_report())):
        data = json.dumps(to_json(report)).encode()
        assert listed(tmp_path / str(number), data) == (["x"], [])
        read = read_report(str(tmp_path / str(number) / "x.json"))
        assert all(render(read) for render in (render_text, render_markdown, render_html))


def test_decompression_bombs_take_little_memory(tmp_path: Path) -> None:
    """Few bytes that unpack to 60 MB, of blanks and of lists, and a file that is all lists."""
    head, tail = json.dumps(good()).encode().split(b'"notes": []', 1)
    for name, start, part, end in (
        ("blanks", b"", b" " * 1_000_000, b"{}"),
        ("lists", head + b'"notes": [', b"[],[]," * 160_000, b"[]]" + tail),
    ):
        with gzip.open(tmp_path / f"{name}.json.gz", "wb", 1) as file:
            for piece in (start, *[part] * 60, end):
                file.write(piece)
    (tmp_path / "dense.json").write_bytes(b'{"dowse_report":1,"about":' + b"[{}," * 4_000_000)
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found, problems, peak = map(int, done.stdout.split())
    assert (found, problems) == (0, 3)
    assert peak < 500


def test_many_questions_in_few_bytes_are_refused() -> None:
    """A row without values names all questions of its set: rows times questions are objects."""
    data = good()
    data["sets"][0]["ids"] = [str(n) for n in range(20_000)]
    row = {**data["sets"][0]["rows"][0], "values": {}}
    data["sets"][0]["rows"] = [row] * 1_000
    with pytest.raises(EvalError, match="too many questions"):
        from_json(data)


def test_only_so_many_files_of_a_folder_are_read(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 10):
        (tmp_path / f"{number:04}.json").write_text("{}")
    found, problems = Reports([], [(tmp_path, tmp_path)], shipped=tmp_path / "none").all()
    assert found == []
    assert len(problems) == MAX_FILES + 1
    assert "too many reports" in problems[-1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs are POSIX")
def test_neither_links_nor_devices_are_read(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(good()))
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.mkfifo(theirs / "fifo.json")
    (theirs / "zero.json").symlink_to("/dev/zero")
    (theirs / "link.json").symlink_to(tmp_path / "mine.json")
    (theirs / "inner.json").symlink_to("fifo.json")
    found, problems = Reports([], [(theirs, theirs)], shipped=tmp_path / "none").all()
    assert (found, problems) == ([], [])
    for name in ("fifo.json", "zero.json"):
        with pytest.raises(EvalError, match="can't be read"):
            read_report(str(theirs / name))


def test_what_comes_with_the_package_is_read_alone_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server looks into a repository's reports when somebody asks for them."""
    shipped, theirs = tmp_path / "shipped", tmp_path / "theirs"
    for folder, name in ((shipped, "eval-ours.json"), (theirs, "theirs.json")):
        folder.mkdir()
        (folder / name).write_text(json.dumps(good()))
    read: list[str] = []

    def noted(path: Path, *limits: int, **options: bool) -> bytes:
        read.append(path.name)
        return read_regular_file(path, *limits, **options)

    monkeypatch.setattr("dowse.services.reports.read_regular_file", noted)
    reports = Reports([], [(theirs, theirs)], shipped=shipped)
    reports.read_shipped()
    assert read == ["eval-ours.json"]
    assert {saved.name for saved in reports.all()[0]} == {"ours", "theirs"}


def _set(path: str, value: object) -> Callable[[Any], None]:
    """Return what sets a value deep in a report."""

    def change(data: Any) -> None:
        *parts, last = [int(part) if part.isdigit() else part for part in path.split("/")]
        for part in parts:
            data = data[part]
        data[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("about", []),
        _set("about/date", 10**400),
        _set("about/date", float("1e300")),
        _set("about/settings", [[[[[[[[[[]]]]]]]]]]),
        _set("sets", {}),
        _set("sets/0", 3),
        _set("sets/0/ids", "abc"),
        _set("sets/0/ids/0", None),
        _set("sets/0/against", {}),
        _set("sets/0/dataset/cases", "many"),
        _set("sets/0/dataset/cases", -1),
        _set("sets/0/dataset/metric", "read@" + "9" * 5_000),
        _set("sets/0/dataset/metric", ["ndcg@10"]),
        _set("sets/0/dataset/index", None),
        _set("sets/0/dataset/more", 1),
        _set("sets/0/rows/0/mode", 5),
        _set("sets/0/rows/0/metrics/ndcg@10", "high"),
        _set("sets/0/rows/0/metrics/ndcg@10", 1e200),
        _set("sets/0/rows/0/metrics/ndcg@10", -0.5),
        _set("sets/0/rows/0/metrics/ndcg@10", True),
        _set("sets/0/rows/0/values/mrr@100/0", 1e-300),
        _set("sets/0/rows/0/values/mrr@100/0", None),
        _set("sets/0/rows/0/latency/p50_ms", -1),
        _set("sets/0/rows/0/latency/p50_ms", 1e300),
        _set("sets/0/rows/0/intervals/ndcg@10", [0]),
        _set("sets/0/rows/1/difference", {"mean": 0}),
        _set("sets/0/worst", []),
        _set("sets/0/worst/cases", [{"id": 1}]),
        _set("sets/0/worst/cases", [{"id": "x", "found": "y"}]),
        _set("means", None),
        _set("means/0/metrics", []),
    ],
)
def test_values_that_could_not_be_shown_are_refused(tmp_path: Path, change: Callable[[Any], None]) -> None:
    data = good()
    change(data)
    text = json.dumps(data).encode()
    with pytest.raises(EvalError) as caught:
        read_report(str(_written(tmp_path / "x.json", text)))
    assert "\n" not in str(caught.value)
    names, problems = listed(tmp_path / "repo", text)
    assert names == []
    assert len(problems) == 1


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [b"[" * 100_000, b'{"dowse_report": NaN}', b'{"dowse_report": 1, "about": "\\ud800"}', b"\xff", b""],
)
@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_what_is_no_json_is_refused_in_one_line(tmp_path: Path, data: bytes, name: str) -> None:
    stored = gzip.compress(data) if name.endswith(".gz") else data
    with pytest.raises(EvalError) as caught:
        read_report(str(_written(tmp_path / name, stored)))
    assert "\n" not in str(caught.value)
    assert len(listed(tmp_path / "repo", stored, name)[1]) == 1


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="file names there are text")
def test_a_file_name_that_is_no_text_can_be_named(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.json", "wb") as file:
        file.write(b"{}")
    _, problems = Reports([], [(tmp_path, tmp_path)], shipped=tmp_path / "none").all()
    assert problems[0].encode().startswith(b"\\udcff.json")
