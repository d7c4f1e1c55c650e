"""Curves are well-formed pictures of what a log says."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from dowse_training import curves
from dowse_training.cli import main
from dowse_training.journal import Journal, read

SVG = "{http://www.w3.org/2000/svg}"
RECORDS = [
    {"t": 0, "stage": 1, "kind": "fit <&>"},
    {"t": 1, "loss": 3.0},
    {"t": 2, "loss": 2.0, "mid": {"eval": {"csn": [0.5, 0.4, 0.6]}}},
    {"t": 3, "eval": {"csn": [0.7, 0.7, 0.7]}, "valid": {"python": [1000, 0.8]}},
]


def test_each_stage_and_measure_is_a_line():
    picture = ElementTree.fromstring(curves.draw(RECORDS))
    lines = [line.get("points").split() for line in picture.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [2, 2, 1]
    names = " ".join(text.text for text in picture.iter(f"{SVG}text"))
    assert "loss, stage 1 fit <&>" in names
    assert "valid python 0.8" in names


def test_a_falling_loss_goes_down_the_picture():
    picture = ElementTree.fromstring(curves.draw(RECORDS))
    first, last = next(picture.iter(f"{SVG}polyline")).get("points").split()
    assert float(first.split(",")[1]) < float(last.split(",")[1])


def test_an_empty_log_is_an_empty_picture():
    assert ElementTree.fromstring(curves.draw([])).tag == f"{SVG}svg"


def test_a_journal_cut_off_by_a_kill_can_be_read(tmp_path):
    journal = Journal(tmp_path / "log.jsonl", quiet=True)
    journal.write(loss=1.5)
    with (tmp_path / "log.jsonl").open("a") as stream:
        stream.write('{"loss": 1.')
    assert [record["loss"] for record in read(tmp_path / "log.jsonl")] == [1.5]


def test_the_command_draws_a_log(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, RECORDS)))
    assert main(["fit", "--curves", str(log), "--out", str(tmp_path / "out")]) == 0
    ElementTree.parse(tmp_path / "out" / "curves.svg")
