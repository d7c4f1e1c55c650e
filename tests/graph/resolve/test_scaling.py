"""Linking files made to take quadratic time: what it costs is counted, not timed."""

from __future__ import annotations

from dowse.graph.lookups import MAX_SAME_NAME
from dowse.graph.resolve.local_scopes import LocalScopes
from dowse.storage.protocol import FileSymbol
from dowse.types import Fact
from graph.resolve.world import world


def test_references_to_a_name_with_many_definitions_have_few_edges(tmp_path):
    with world(tmp_path) as files:
        files.put("a.c", "int f(int a) { return a; }\n" * 400 + "int g(int a) { f(a); }\n" * 400)
        files.link()
        (edges,) = files.catalog._db.execute("SELECT count(*) FROM edges").fetchone()
    assert 400 <= edges <= 400 * MAX_SAME_NAME


def test_a_name_with_many_scopes_is_found_by_its_line():
    symbols = [FileSymbol(n, "function", f"f{n}", f"f{n}", 2 * n, 2 * n + 1, 0, "") for n in range(20_000)]
    facts = [Fact("type", "a", f"T{n}", "", n, 0, 0) for n in range(20_000)]
    names = LocalScopes(symbols, facts, -1)
    values = [each.fact.value for line in range(40_000) for each in names.lookup("a", line)]
    assert values == [f"T{line // 2}" for line in range(40_000)]
    assert names.lookup("a", 50_000) == names.lookup("b", 1) == []
