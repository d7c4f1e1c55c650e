"""Files that evaluations write, and where they keep what they make again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from dowse.eval.files import write_text


def test_packed_by_name_and_the_same_each_time(tmp_path: Path) -> None:
    places = [tmp_path / "new" / name for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.gz")]
    for place in places:
        write_text(place, "größer\n")
    plain, packed, again = (place.read_bytes() for place in places)
    assert gzip.decompress(packed) == plain == "größer\n".encode()
    assert packed == again


def test_names_that_are_no_text_come_back_from_json(tmp_path: Path) -> None:
    path = "caf\udce9.py"
    write_text(tmp_path / "x.json", json.dumps(path, ensure_ascii=False))
    assert json.loads((tmp_path / "x.json").read_text()) == path
