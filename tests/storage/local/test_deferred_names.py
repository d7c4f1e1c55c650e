"""Names of a file whose graph part is stored later get their keys with it."""

from __future__ import annotations

from pathlib import Path

from dowse.storage.local.backend import LocalBackend
from dowse.types import GraphPart

from helpers import file_record, name_record, symbol


def test_names_get_their_keys_with_the_graph_part(tmp_path: Path) -> None:
    names = (name_record("RATE", 1), name_record("LIMIT", 2))
    record = file_record("a.py", [symbol("total", lines=(3, 4))], names, text="RATE = 1\nLIMIT = 2\n")
    backend = LocalBackend(tmp_path / "index")
    with backend.writer() as writer:
        writer.put(record._replace(is_deferred=True))
        writer.commit({"linked": "0"})
        with backend.reader() as reader:
            (rate,) = reader.rows_named(["RATE"], 10, with_names=True)
        assert not writer.graph().has_symbol_named(12)
        (file,) = writer.deferred_files(10)
        keys = (("name-RATE", 11, 12), ("name-gone", 13, 14))
        writer.complete_file(file.file_id, GraphPart(b"", b"", (1 << 40,), (), ((21, 22, False),), keys))
        (target,) = writer.graph().symbols_in_scope(11)
        (total,) = writer.graph().symbols_in_scope(21)
        assert (target.row, target.qualified_name, total.qualified_name) == (rate.row, "RATE", "total")
        assert [writer.graph().has_symbol_named(key) for key in (12, 22, 14)] == [True, True, False]
        assert writer.deferred_files(10) == []
        writer.commit({"linked": "1"})
    with backend.reader() as reader:
        assert reader.rows_named(["RATE"], 10, with_names=True) == [rate]
