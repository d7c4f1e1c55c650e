"""What every backend does with names: definitions without a text of their own, stored beside symbols."""

from __future__ import annotations

import pytest

from dowse.query.ast import KindFilter, Not, SymFilter
from dowse.storage.protocol import Backend, GraphStore, NamedReference, Reader, ResolvedReference
from dowse.types import FileRecord, NameRecord
from storage.conformance import MakeBackend, fill, request
from storage.suite import Suite

from helpers import file_record, name_record, symbol

TOTAL = "def total():\n    return RATE\n"
TEXT = f"RATE = 2\nLIMIT, FLOOR = 9, 1\n\n\n\n\n\n{TOTAL}\n\ndef rest():\n    total\n"
# Keys that linking looks up; no symbol has them.
SCOPE_KEY, NAME_KEY = 11, 12
LINKED_NAMES = (name_record("RATE", 1, keys=(SCOPE_KEY, NAME_KEY)), name_record("LIMIT", 2, keys=(21, 22)))


def prices(*names: NameRecord) -> FileRecord:
    """A file of two functions, and of three names unless others are given."""
    start = TEXT.index(TOTAL)
    total = symbol("total", "rate item", lines=(8, 9), spans=((start, start + len(TOTAL)),))
    rest = symbol("rest", "rate", lines=(12, 13))
    constants = names or (name_record("RATE", 1), name_record("LIMIT", 2), name_record("FLOOR", 2))
    return file_record("prices.py", [total, rest], constants, text=TEXT)


def cart(name: str = "total", line: int = 2) -> FileRecord:
    """A file with a field that is called like a function."""
    field = name_record(name, line, qualified_name=f"Cart.{name}", kind="field")
    text = f"class Cart:\n    {name}: int\n"
    cart = symbol("Cart", {"name": "cart", "body": "total int"}, kind="class", lines=(1, 2))
    return file_record("cart.py", [cart], [field], text=text)


def all_names(reader: Reader) -> dict[str, int]:
    """Return the rows of all names, by qualified name."""
    files = [file.file_id for file in reader.files()]
    return {row.qualified_name: row.row for row in reader.names_of_files(files)}


class NameConformance(Suite):
    """The suite."""

    @pytest.fixture
    def backend(self, make_backend: MakeBackend) -> Backend:
        return make_backend()

    @pytest.fixture
    def shop(self, backend: Backend) -> Backend:
        fill(backend, [prices(), cart()])
        return backend

    # What knows them

    def test_names_of_files_are_in_the_order_of_their_definitions(self, shop: Backend) -> None:
        with shop.reader() as reader:
            ids = {file.path: file.file_id for file in reader.files()}
            names = reader.names_of_files([ids["prices.py"]])
            assert [(row.name, row.start_line, row.end_line) for row in names] == [
                ("RATE", 1, 1),
                ("LIMIT", 2, 2),
                ("FLOOR", 2, 2),
            ]
            assert all(row.row < 0 for row in names)
            (field,) = reader.names_of_files([ids["cart.py"]])
            assert field[1:-1] == (
                *("name-Cart.total", "acme/shop", "cart.py", "python", "", "field", "total", "Cart.total"),
                *(2, 2, ""),
            )
            assert field.file_id == ids["cart.py"]
            assert reader.names_of_files([]) == []

    def test_rows_are_those_of_symbols_and_of_names(self, shop: Backend) -> None:
        with shop.reader() as reader:
            names = all_names(reader)
            (total,) = reader.rows_named(["total"], 10)
            asked = [names["FLOOR"], total.row, names["Cart.total"], 0, names["RATE"]]
            found = reader.rows(asked)
            assert [row.row for row in found] == [row for row in asked if row]
            assert [row.kind for row in found] == ["constant", "function", "field", "constant"]
            assert reader.rows([names["RATE"]]) == [found[-1]]

    def test_rows_by_key_are_those_of_symbols_and_of_names(self, shop: Backend) -> None:
        with shop.reader() as reader:
            found = reader.rows_by_key(["name-RATE", "id-rest", "none"])
            assert sorted((row.name, row.row < 0) for row in found) == [("RATE", True), ("rest", False)]

    def test_rows_by_exact_name(self, shop: Backend) -> None:
        with shop.reader() as reader:
            asked = ["total", "RATE", "rate", "Cart.total"]
            assert [row.name for row in reader.rows_named(asked, 10)] == ["total"]
            found = reader.rows_named(asked, 10, with_names=True)
            assert [(row.name, row.kind) for row in found] == [
                ("RATE", "constant"),
                ("total", "function"),
                ("total", "field"),
            ]
            for limit in range(4):
                assert reader.rows_named(asked, limit, with_names=True) == found[:limit]

    @pytest.mark.parametrize(
        ("pattern", "by_name", "by_either"),
        [
            ("rate", ["RATE"], ["RATE"]),
            ("total", ["total", "Cart.total"], ["total", "Cart.total"]),
            ("cart.*", [], ["Cart.total"]),
            ("*a*", ["Cart", "RATE", "total", "Cart.total"], ["Cart", "RATE", "total", "Cart.total"]),
            ("?????", ["FLOOR", "LIMIT", "total", "Cart.total"], ["FLOOR", "LIMIT", "total", "Cart.total"]),
            ("none*", [], []),
        ],
    )
    def test_lookup(self, shop: Backend, pattern: str, by_name: list[str], by_either: list[str]) -> None:
        """Shortest names first; of one name, symbols first."""
        with shop.reader() as reader:
            for is_unqualified, expected in ((True, by_name), (False, by_either)):
                found = reader.lookup(pattern, 10, is_unqualified=is_unqualified, with_names=True)
                assert [row.qualified_name for row in found] == expected
                symbols = reader.lookup(pattern, 10, is_unqualified=is_unqualified)
                assert symbols == [row for row in found if row.row > 0]
                first = reader.lookup(pattern, 1, is_unqualified=is_unqualified, with_names=True)
                assert first == found[:1]

    def test_a_limit_keeps_symbols_before_names(self, backend: Backend) -> None:
        """Also where the qualified name of a name matches, too, and that of the symbol does not."""
        method = symbol("size", qualified_name="Shop.size", kind="method")
        fill(backend, [file_record("a.py", [method], [name_record("size", 1)], text="size = 1\n")])
        with backend.reader() as reader:
            for limit, expected in ((1, ["Shop.size"]), (2, ["Shop.size", "size"])):
                found = reader.lookup("size", limit, with_names=True)
                assert [row.qualified_name for row in found] == expected

    def test_the_text_of_a_name_is_what_stands_around_it(self, shop: Backend) -> None:
        with shop.reader() as reader:
            (rate,) = reader.rows_named(["RATE"], 1, with_names=True)
            (total,) = reader.rows_named(["total"], 1)
            (whole,) = reader.file_rows([rate.file_id])
            rate_symbol, total_symbol, file, again = reader.symbols([rate, total, whole, rate])
            assert TEXT.startswith(rate_symbol.code) and rate_symbol.code.startswith("RATE = 2\nLIMIT")
            assert "def total" not in rate_symbol.code
            assert (rate_symbol.id, rate_symbol.kind, rate_symbol.start_line) == ("name-RATE", "constant", 1)
            assert rate_symbol.signature == "RATE = 2"
            assert total_symbol.code == TOTAL and file.code == TEXT
            assert again == rate_symbol

    # What does not

    def test_whatever_counts_ranks_or_lists_symbols_sees_no_names(self, shop: Backend) -> None:
        with shop.reader() as reader:
            files = reader.files()
            ids = [file.file_id for file in files]
            symbols = reader.lookup("*", 100)
            rows = {row.row for row in symbols}
            assert len(rows) == 3 and min(rows) > 0
            assert reader.counts()["symbols"] == reader.symbol_count() == 3
            assert {file.path: file.symbols for file in files} == {"prices.py": 2, "cart.py": 1}
            assert {row.row for row in reader.rows_of_files(ids)} == rows
            assert {row for _, ranges in reader.symbol_ranges(ids) for row in ranges.rows} == rows
            assert {row for row, _, _ in reader.text_keys()} == rows
            assert {row for row, _ in reader.missing_vectors("none")} == rows
            assert reader.embedded_count("none") == 0
        assert shop.check() == []

    def test_words_and_filters_find_symbols_alone(self, shop: Backend) -> None:
        with shop.reader() as reader:
            assert reader.document_frequency("rate") == 2 and reader.document_frequency("floor") == 0
            assert len(reader.search_bm25(request("rate"), 10)) == 2
            for constraint in (KindFilter("constant"), SymFilter("RATE"), SymFilter("cart.total")):
                assert reader.search_bm25(request(constraint=constraint), 10) == []
                found = reader.search_bm25(request(constraint=Not(constraint)), 10)
                assert len(found) == 3 and all(row > 0 for row, _ in found)

    # Changes

    def test_a_name_keeps_its_row_when_its_file_changes(self, shop: Backend) -> None:
        with shop.reader() as reader:
            before = all_names(reader)
        moved = (name_record("CEILING", 1), name_record("LIMIT", 3), name_record("RATE", 4))
        fill(shop, [prices(*moved)])
        with shop.reader() as reader:
            after = all_names(reader)
            assert set(after) == {"CEILING", "LIMIT", "RATE", "Cart.total"}
            assert {name: after[name] for name in ("LIMIT", "RATE", "Cart.total")} == {
                name: before[name] for name in ("LIMIT", "RATE", "Cart.total")
            }
            assert [row.start_line for row in reader.rows([after["RATE"], after["LIMIT"]])] == [4, 3]
            assert reader.rows_named(["FLOOR"], 10, with_names=True) == []
        assert shop.check() == []

    def test_a_name_that_becomes_a_symbol_is_one(self, shop: Backend) -> None:
        fill(shop, [file_record("prices.py", [symbol("RATE", "rate", key="name-RATE")])])
        with shop.reader() as reader:
            (row,) = reader.rows_named(["RATE"], 10, with_names=True)
            assert row.row > 0 and reader.search_bm25(request("rate"), 10)[0][0] == row.row
            assert set(all_names(reader)) == {"Cart.total"}

    def test_names_go_with_their_file(self, shop: Backend) -> None:
        with shop.reader() as held, shop.writer() as writer:
            writer.delete("prices.py")
            writer.commit({})
            assert set(all_names(held)) == {"RATE", "LIMIT", "FLOOR", "Cart.total"}
            with shop.reader() as reader:
                assert set(all_names(reader)) == {"Cart.total"}
                assert reader.lookup("RATE", 10, with_names=True) == []
        assert shop.check() == []

    def test_names_that_were_not_committed_are_not_there(self, shop: Backend) -> None:
        with shop.writer() as writer:
            writer.put(cart("tax"))
            writer.delete("prices.py")
        with shop.reader() as reader:
            assert set(all_names(reader)) == {"RATE", "LIMIT", "FLOOR", "Cart.total"}
        assert shop.check() == []

    def test_starting_over_and_clearing_leave_no_names(self, shop: Backend) -> None:
        shop.start_over()
        fill(shop, [cart()])
        with shop.reader() as reader:
            assert set(all_names(reader)) == {"Cart.total"}
        assert shop.check() == []
        shop.clear()
        fill(shop, [])
        with shop.reader() as reader:
            assert reader.lookup("*", 10, with_names=True) == []

    # The graph

    @pytest.fixture
    def linked(self, backend: Backend) -> Backend:
        """`total` refers to RATE; `rest` refers to something of that name."""
        with backend.writer() as writer:
            writer.put(_with_facts(prices(*LINKED_NAMES)))
            writer.put(_with_facts(file_record("use.py", [symbol("use", lines=(1, 2))], text="RATE\n")))
            _link_to_rate(writer.graph())
            writer.commit({})
        return backend

    def test_linking_looks_names_up_by_their_keys(self, linked: Backend) -> None:
        with linked.reader() as reader:
            rate = all_names(reader)["RATE"]
        with linked.writer() as writer:
            (target,) = writer.graph().symbols_in_scope(SCOPE_KEY)
            assert (target.row, target.kind, target.qualified_name) == (rate, "constant", "RATE")
            assert writer.graph().has_symbol_named(NAME_KEY)
            assert not writer.graph().has_symbol_named(SCOPE_KEY + 1000)

    def test_edges_lead_to_names(self, linked: Backend) -> None:
        with linked.reader() as reader:
            rate = all_names(reader)["RATE"]
            rows = {row.name: row.row for row in reader.lookup("*", 10)}
            incoming = reader.edges([rate], ("uses",), incoming=True)
            assert [(e.source, e.target, e.line, e.confidence) for e in incoming] == [
                (rows["use"], rate, 1, "resolved"),
                (rows["use"], rate, 2, "unique"),
            ]
            assert reader.edges([rows["use"]]) == incoming
            assert reader.edges([rate, rows["total"]], incoming=True) == incoming
            assert reader.edges([rate], ("calls",), incoming=True) == []
            assert reader.edges([rate], limit=1, incoming=True) == incoming[:1]
            assert reader.edges([rate]) == reader.edges([all_names(reader)["LIMIT"]], incoming=True) == []

    def test_edges_stay_while_the_name_does(self, linked: Backend) -> None:
        with linked.reader() as reader:
            rate = all_names(reader)["RATE"]
            before = reader.edges([rate], incoming=True)
        moved = (LINKED_NAMES[0]._replace(line=5), LINKED_NAMES[1])
        fill(linked, [_with_facts(prices(*moved))])
        with linked.reader() as reader:
            assert reader.edges([rate], incoming=True) == before
        fill(linked, [_with_facts(prices(LINKED_NAMES[1]))])
        with linked.reader() as reader:
            (use,) = reader.rows_named(["use"], 1)
            assert reader.edges([use.row]) == reader.edges([rate], incoming=True) == []
        with linked.writer() as writer:  # nothing has the name any more that was looked up
            files = map(writer.graph().file_to_link, writer.graph().files_to_link())
            assert [file.path for file in files if file] == ["use.py"]

    def test_references_by_name_have_the_names_of_now(self, linked: Backend) -> None:
        other = name_record("RATE", 1, qualified_name="other.RATE", keys=(31, NAME_KEY))
        fill(linked, [_with_facts(file_record("more.py", [], [other], text="RATE = 3\n"))])
        with linked.reader() as reader:
            (use,) = reader.rows_named(["use"], 1)
            by_name = [edge for edge in reader.edges([use.row]) if edge.line == 2]
            names = all_names(reader)
            assert {edge.target for edge in by_name} == {names["RATE"], names["other.RATE"]}
            assert {(edge.confidence, edge.candidates) for edge in by_name} == {("ambiguous", 2)}
        with linked.writer() as writer:
            assert writer.graph().files_to_link() == []


def _with_facts(record: FileRecord) -> FileRecord:
    """Return a file that takes part in linking; any offers something."""
    return record._replace(offers=(1 << 40,))


def _link_to_rate(graph: GraphStore) -> None:
    """Let `use` refer to the name RATE, and to whatever has its name."""
    files = [graph.file_to_link(number) for number in (1, 2)]
    (file,) = (each for each in files if each is not None and each.path == "use.py")
    (target,) = graph.symbols_in_scope(SCOPE_KEY)
    use = file.symbols[0].row
    linked = [ResolvedReference(use, 1, 0, "uses", target.row, 1)]
    named = [NamedReference(use, 2, 0, "uses", NAME_KEY, "")]
    graph.put_links(file.file_id, linked, named, [NAME_KEY])
    graph.mark_all_linked()
