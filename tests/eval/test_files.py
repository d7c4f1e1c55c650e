"""Files that evaluations write, and where they keep what they make again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from dowse.config import cache_folder
from dowse.eval.files import cache_path, write_text


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


def test_a_place_for_every_tree_and_every_way_of_making() -> None:
    one, two = Path("/a/tree"), Path("/b/tree")
    places = [
        *(cache_path("mined", root, "tree", (200, "")) for root in (one, two)),
        cache_path("mined", one, "tree", (100, "")),
        cache_path("indexes", one, "tree", (200, "")),
    ]
    assert len(set(places)) == 4
    assert places[0] == cache_path("mined", one, "tree", (200, ""))
    assert all(place.parent.parent == cache_folder() / "eval" for place in places)
