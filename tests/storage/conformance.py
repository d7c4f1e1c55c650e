"""What every backend must do, written against the protocol alone.

A backend's own test module subclasses `Conformance` and gives a `make_backend` fixture; see test_local.py.
Brute-force answers come from plain Python over the same records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi, BM25Plus

from dowse.errors import IndexMissing
from dowse.graph.link import link
from dowse.indexing.records import Source, make_record
from dowse.parsing.tokenizer import tokenize
from dowse.query.ast import (
    And,
    Constraint,
    KindFilter,
    LangFilter,
    Leaf,
    Not,
    Or,
    PathFilter,
    Phrase,
    Regex,
    RepoFilter,
    RowsFilter,
    SymFilter,
    WithinFilter,
    Word,
    WordConstraint,
)
from dowse.query.evaluate import evaluate, path_matches, symbol_matches
from dowse.query.regex.matcher import compile_pattern
from dowse.query.regex.trigrams import required_trigrams
from dowse.storage.open import open_backend
from dowse.storage.protocol import Backend, KeywordRequest, Reader, Term
from dowse.types import KEYWORD_FIELDS, FileRecord, SymbolRecord
from storage.suite import Suite, drawn

from helpers import file_record, name_record, symbol

MakeBackend = Callable[[], Backend]
# Ends of paths of the shop, and the files that they name.
_ENDS = {
    "cart.py": ["src/cart.py"],
    "src/cart.py": ["src/cart.py"],
    "test_cart.py": ["tests/test_cart.py"],
    "art.py": [],
    "*.py": [],
}
EVEN = dict.fromkeys(KEYWORD_FIELDS, 1.0)
BODY = {"body": 1.0}


def fill(backend: Backend, records: Sequence[FileRecord]) -> int:
    """Put records and commit them as one generation."""
    with backend.writer() as writer:
        for record in records:
            writer.put(record)
        return writer.commit({"root": "/somewhere"})


def request(*words: str, weights: dict[str, float] | None = None, **more: object) -> KeywordRequest:
    """Ask for words, in all fields alike unless said otherwise."""
    return KeywordRequest(tuple(map(Term, words)), weights or EVEN, **more)  # type: ignore[arg-type]


def found_names(reader: Reader, wanted: KeywordRequest, limit: int = 100) -> list[str]:
    """Return the names of the symbols found, best first."""
    rows = reader.search_bm25(wanted, limit)
    return [row.name for row in reader.rows([row for row, _ in rows])]


def some_files() -> list[FileRecord]:
    """A small shop: three files in two languages."""
    cart = "def add_item(item):\n    items.append(item)\n\ndef total():\n    return sum(items)\n"
    return [
        file_record(
            "src/cart.py",
            [
                symbol(
                    "add_item",
                    {"name": "add_item add item", "body": "item append"},
                    lines=(1, 2),
                    spans=((0, 43),),
                ),
                symbol(
                    "total", {"name": "total", "body": "sum item"}, lines=(4, 5), spans=((44, len(cart)),)
                ),
            ],
            text=cart,
        ),
        file_record(
            "src/tax.go",
            [symbol("Vat", {"name": "vat", "body": "rate item"}, qualified_name="tax.Vat", kind="method")],
            text="func Vat() float64 { return rate }\n",
            language="go",
        ),
        file_record(
            "tests/test_cart.py",
            [
                symbol(
                    "test_total", {"name": "test_total test total", "body": "total assert"}, kind="function"
                )
            ],
            text="def test_total():\n    assert total() == 3\n",
            role="test",
        ),
    ]


class Conformance(Suite):
    """The suite."""

    @pytest.fixture
    def backend(self, make_backend: MakeBackend) -> Backend:
        return make_backend()

    @pytest.fixture
    def shop(self, backend: Backend) -> Backend:
        fill(backend, some_files())
        return backend

    # Generations

    def test_nothing_to_read_before_the_first_commit(self, backend):
        with pytest.raises(IndexMissing, match="dowse index"), backend.reader():
            pass

    def test_an_empty_generation_can_be_read(self, backend):
        fill(backend, [])
        with backend.reader() as reader:
            assert reader.search_bm25(request("x"), 10) == [] and reader.files() == []
        with backend.writer() as writer:
            writer.put(file_record("a.py", [symbol("a", "x")]))
            writer.commit({})
        with backend.writer() as writer:
            writer.delete("a.py")
            writer.commit({})
        with backend.reader() as reader:
            assert reader.search_bm25(request("x"), 10) == []
            assert reader.files() == [] and reader.counts()["symbols"] == 0
            assert reader.trigram_candidates(required_trigrams(compile_pattern("abc"))) == []
        assert backend.check() == []

    def test_what_was_put_is_found_after_commit(self, shop):
        with shop.reader() as reader:
            assert found_names(reader, request("append")) == ["add_item"]
            assert set(found_names(reader, request("item"))) == {"add_item", "total", "Vat"}
            assert reader.counts() == {
                "files": 3,
                "symbols": 4,
                "bytes": sum(f.size for f in some_files()),
                "skipped": 0,
            }
            assert reader.languages() == {"python": 2, "go": 1}
            assert reader.meta()["root"] == "/somewhere"
        assert shop.check() == []

    def test_leaving_without_commit_forgets_everything(self, shop):
        with shop.reader() as reader:
            before = reader.generation
        with shop.writer() as writer:
            writer.put(file_record("new.py", [symbol("fresh", "fresh")], text="fresh\n"))
            writer.delete("src/cart.py")
            writer.touch("src/tax.go", 9, 9)
            writer.set_skipped([("x", "binary")])
        with shop.reader() as reader:
            assert reader.generation == before
            assert reader.search_bm25(request("fresh"), 10) == []
            assert found_names(reader, request("append")) == ["add_item"]
            assert reader.skipped() == [] and reader.fingerprints()["src/tax.go"].mtime_ns == 1
        assert shop.check() == []

    def test_an_error_while_writing_forgets_everything(self, shop):
        with pytest.raises(ZeroDivisionError), shop.writer() as writer:
            writer.put(file_record("new.py", [symbol("fresh", "fresh")], text="fresh\n"))
            raise ZeroDivisionError
        with shop.reader() as reader:
            assert reader.search_bm25(request("fresh"), 10) == []
        assert fill(shop, [file_record("new.py", [symbol("fresh", "fresh")], text="fresh\n")])
        with shop.reader() as reader:
            assert found_names(reader, request("fresh")) == ["fresh"]
        assert shop.check() == []

    def test_a_put_replaces_the_file_with_its_key(self, shop):
        fill(shop, [file_record("src/cart.py", [symbol("basket", "weave")], text="weave\n")])
        with shop.reader() as reader:
            assert reader.search_bm25(request("append"), 10) == []
            assert found_names(reader, request("weave")) == ["basket"]
            assert sorted(reader.fingerprints()) == ["src/cart.py", "src/tax.go", "tests/test_cart.py"]
            assert texts(reader)["src/cart.py"] == b"weave\n"
        assert shop.check() == []

    def test_the_last_put_of_one_generation_wins(self, backend):
        fill(backend, [file_record("a", [symbol("one", "x")]), file_record("a", [symbol("two", "x")])])
        with backend.reader() as reader:
            assert found_names(reader, request("x")) == ["two"]
        assert backend.check() == []

    def test_delete(self, shop):
        with shop.writer() as writer:
            writer.delete("src/cart.py")
            writer.delete("was/never/there.py")
            writer.commit({})
        with shop.reader() as reader:
            assert reader.search_bm25(request("append"), 10) == []
            assert sorted(reader.fingerprints()) == ["src/tax.go", "tests/test_cart.py"]
            assert reader.trigram_candidates(required_trigrams(compile_pattern("append"))) == []
        assert shop.check() == []

    def test_the_generation_grows_with_content_and_only_with_it(self, shop):
        with shop.reader() as reader:
            first = reader.generation
        with shop.writer() as writer:
            writer.touch("src/tax.go", 77, 99)
            writer.set_skipped([("logo.png", "binary")])
            assert writer.commit({"note": "touched"}) == first
        with shop.reader() as reader:
            assert reader.generation == first
            assert reader.fingerprints()["src/tax.go"][:2] == (77, 99)
            assert reader.skipped() == [("logo.png", "binary")]
            assert reader.meta()["note"] == "touched"
        assert fill(shop, [file_record("n.py", [symbol("n", "n")])]) > first

    def test_two_commits_by_one_writer(self, backend):
        with backend.writer() as writer:
            writer.put(file_record("a", [symbol("one", "x")]))
            first = writer.commit({})
            writer.put(file_record("b", [symbol("two", "x")]))
            assert writer.commit({}) > first
        with backend.reader() as reader:
            assert set(found_names(reader, request("x"))) == {"one", "two"}
        assert backend.check() == []

    def test_a_writer_knows_the_last_generation(self, shop):
        with shop.writer() as writer:
            writer.set_skipped([("b", "minified"), ("a", "binary")])
            writer.commit({"colour": "red"})
        with shop.writer() as writer:
            assert sorted(writer.fingerprints()) == ["src/cart.py", "src/tax.go", "tests/test_cart.py"]
            assert sorted(writer.skipped()) == [("a", "binary"), ("b", "minified")]
            assert writer.meta()["colour"] == "red"

    def test_a_held_reader_keeps_its_generation(self, shop):
        """Both lanes, opened or not, still answer from it after others have replaced it more than once."""
        with shop.reader() as held:
            for round_ in range(3):
                with shop.writer() as writer:
                    writer.delete("src/cart.py")
                    writer.put(file_record("n.py", [symbol(f"n{round_}", "fresh")], text="fresh new text\n"))
                    assert found_names(held, request("append")) == ["add_item"]
                    writer.commit({})
            assert held.search_bm25(request("fresh"), 10) == []
            assert found_names(held, request("append")) == ["add_item"]
            candidates = held.trigram_candidates(required_trigrams(compile_pattern("items.append")))
            assert [text for _, text in held.texts(candidates)] == [b"" + some_files()[0].text.encode()]
            assert held.counts()["files"] == 3
            with shop.reader() as fresh:
                assert fresh.generation > held.generation
                assert found_names(fresh, request("fresh")) == ["n2"]
                assert fresh.search_bm25(request("append"), 10) == []
        assert shop.check() == []

    def test_clear(self, shop):
        shop.clear()
        with pytest.raises(IndexMissing), shop.reader():
            pass
        fill(shop, [file_record("a", [symbol("one", "x")])])
        with shop.reader() as reader:
            assert found_names(reader, request("x")) == ["one"]
            assert reader.search_bm25(request("item"), 10) == []

    # Look-ups

    def test_starting_over_forgets_what_is_not_put_again(self, shop):
        assert shop.exists()
        shop.start_over()
        with shop.writer() as writer:
            assert writer.fingerprints() == {}
            writer.put(file_record("new.py", [symbol("fresh", "fresh")], text="fresh\n"))
            writer.commit({"root": "/somewhere"})
        with shop.reader() as reader:
            assert [file.path for file in reader.files()] == ["new.py"]
            assert reader.search_bm25(request("append"), 10) == []
            assert found_names(reader, request("fresh")) == ["fresh"]
        assert shop.check() == []

    def test_its_address_opens_it_again(self, shop):
        again = open_backend(shop.address)
        with again.reader() as reader:
            assert found_names(reader, request("append")) == ["add_item"]
        again.close()

    def test_symbols_by_key(self, shop):
        with shop.reader() as reader:
            rows = reader.lookup("*", 100)
            keys = [row.key for row in rows]
            assert sorted(reader.rows_by_key(keys)) == sorted(rows)
            assert reader.rows_by_key([keys[0], "none"]) == [rows[0]] and reader.rows_by_key([]) == []

    def test_files_with_a_problem(self, shop):
        with shop.reader() as reader:
            assert reader.files_with_problems() == []
        fill(shop, [file_record("bad.py", [], text="x\n")._replace(problem="no syntax tree")])
        with shop.reader() as reader:
            assert [(file.path, file.problem) for file in reader.files_with_problems()] == [
                ("bad.py", "no syntax tree")
            ]

    def test_files_by_the_end_of_their_path(self, shop):
        with shop.reader() as reader:
            found = {end: [file.path for file in reader.files_with_suffix(end)] for end in _ENDS}
        assert found == _ENDS

    def test_texts_and_symbols(self, shop):
        with shop.reader() as reader:
            assert texts(reader) == {f.key: f.text.encode() for f in some_files()}
            (total,) = reader.lookup("total", 10)
            found = reader.symbols([total])[0]
            assert found.code == "def total():\n    return sum(items)\n"
            assert (found.id, found.path, found.start_line) == ("id-total", "src/cart.py", 4)
            assert list(reader.texts([])) == []

    def test_a_symbol_of_several_spans(self, backend):
        text = "class Ä:\n    x = 1\n    def cut(self): ...\n    y = 2\n"
        data = text.encode()
        hole = data.index(b"    def cut"), data.index(b"    y = 2")
        spans = ((0, hole[0]), (hole[1], len(data)))
        fill(backend, [file_record("a.py", [symbol("Ä", "x", spans=spans)], text=text)])
        with backend.reader() as reader:
            (row,) = reader.lookup("Ä", 1)
            assert reader.symbols([row])[0].code == "class Ä:\n    x = 1\n    y = 2\n"

    def test_rows_come_in_the_order_asked(self, shop):
        with shop.reader() as reader:
            rows = [row.row for row in reader.lookup("*", 10)]
            assert [row.row for row in reader.rows(rows[::-1])] == rows[::-1]
            assert reader.rows([]) == []

    def test_rows_of_files(self, shop):
        with shop.reader() as reader:
            ids = [file.file_id for file in reader.files()]
            rows = reader.rows_of_files(ids)
            assert [row.name for row in rows if row.path == "src/cart.py"] == ["add_item", "total"]
            assert {row.file_id for row in rows} == set(ids)
            whole = {row.path: row for row in reader.file_rows(ids)}
            assert {row.kind for row in whole.values()} == {"file"}
            assert {row.row for row in whole.values()} == {0}
            assert (whole["src/cart.py"].start_line, whole["src/cart.py"].end_line) == (1, 5)
            assert reader.symbols([whole["src/cart.py"]])[0].code == some_files()[0].text

    def test_extents_and_single_texts(self, backend):
        """By first line, outer before inner; a file without symbols is there too."""
        text = "class A:\n    def b(): ...\n    def c(): ...\n"
        symbols = [symbol("c", lines=(3, 3)), symbol("b", lines=(2, 2)), symbol("A", lines=(1, 3))]
        first = symbol("first", lines=(1, 1))
        fill(backend, [file_record("a", [*symbols, first], text=text), file_record("empty")])
        with backend.reader() as reader:
            ids = {file.path: file.file_id for file in reader.files()}
            names = {row.row: row.name for row in reader.lookup("*", 10)}
            extents = dict(reader.symbol_ranges(list(ids.values())))
            assert [names[row] for row in extents[ids["a"]].rows] == ["A", "first", "b", "c"]
            assert (extents[ids["a"]].starts, extents[ids["a"]].ends) == ([1, 1, 2, 3], [3, 1, 2, 3])
            assert extents[ids["empty"]] == ([], [], [])
            assert reader.text(ids["a"]) == text.encode() and reader.text(ids["empty"]) == b""

    @pytest.mark.parametrize(
        ("pattern", "names"),
        [
            ("total", {"total"}),
            ("TOTAL", {"total"}),
            ("*total*", {"total", "test_total"}),
            ("t?tal", {"total"}),
            ("tax.*", {"Vat"}),
            ("add_item", {"add_item"}),
            ("add%item", set()),
            ("addXitem", set()),
            ("nothing", set()),
            ("*", {"add_item", "total", "Vat", "test_total"}),
        ],
    )
    def test_lookup(self, shop, pattern, names):
        with shop.reader() as reader:
            assert {row.name for row in reader.lookup(pattern, 100)} == names
            assert len(reader.lookup(pattern, 1)) == min(1, len(names))
            by_name = {row.name for row in reader.lookup(pattern, 100, is_unqualified=True)}
            assert by_name == (set() if "." in pattern else names)

    @pytest.mark.parametrize(
        ("names", "found"),
        [
            (["total"], ["total"]),
            (["Total", "TOTAL", "t?tal", "*"], []),
            (["Vat", "nothing", "add_item", "add_item", "add%item"], ["Vat", "add_item"]),
            (["tax.Vat", "", "\ud800"], []),
            ([*(f"unknown{n}" for n in range(1200)), "total", "Vat"], ["Vat", "total"]),
            ([], []),
        ],
    )
    def test_rows_by_exact_name(self, shop, names, found):
        with shop.reader() as reader:
            assert [row.name for row in reader.rows_named(names, 100)] == found
            assert [row.name for row in reader.rows_named(names, 1)] == found[:1]

    def test_files_are_described(self, shop):
        with shop.reader() as reader:
            described = {(f.path, f.language, f.role, f.symbols, f.lines) for f in reader.files()}
        assert described == {
            ("src/cart.py", "python", "", 2, 5),
            ("src/tax.go", "go", "", 1, 1),
            ("tests/test_cart.py", "python", "test", 1, 2),
        }

    # Keyword candidates

    def test_no_terms_and_no_constraint_find_nothing(self, shop):
        with shop.reader() as reader:
            assert reader.search_bm25(request(), 10) == []

    def test_a_constraint_alone_finds_all_that_meet_it(self, shop):
        with shop.reader() as reader:
            wanted = request(constraint=LangFilter("go"))
            assert found_names(reader, wanted) == ["Vat"]
            assert all(score > 0 for _, score in reader.search_bm25(wanted, 10))

    def test_limit_keeps_the_best(self, shop):
        with shop.reader() as reader:
            every = reader.search_bm25(request("item", "total"), 100)
            assert reader.search_bm25(request("item", "total"), 2) == every[:2]

    def test_a_field_without_weight_does_not_count(self, shop):
        with shop.reader() as reader:
            assert found_names(reader, request("vat", weights={"body": 1.0, "name": 0.0})) == []

    def test_weights_of_terms_and_fields_scale_scores(self, shop):
        with shop.reader() as reader:
            ((row, once),) = reader.search_bm25(request("append"), 10)
            for wanted in (
                KeywordRequest((Term("append", 2.0),), EVEN),
                KeywordRequest((Term("append"),), dict.fromkeys(KEYWORD_FIELDS, 2.0)),
            ):
                assert reader.search_bm25(wanted, 10) == [(row, pytest.approx(2 * once, rel=1e-5))]

    def test_filters_do_not_change_scores(self, shop):
        with shop.reader() as reader:
            free = dict(reader.search_bm25(request("item"), 10))
            filtered = dict(reader.search_bm25(request("item", constraint=Not(LangFilter("go"))), 10))
            assert len(filtered) == 2
            assert filtered == {row: pytest.approx(free[row], rel=1e-5) for row in filtered}

    def test_a_filter_by_rows_finds_these_alone(self, shop):
        with shop.reader() as reader:
            rows = [row for row, _ in reader.search_bm25(request("item"), 10)]
            for kept in (rows[:1], rows[1:]):
                found = reader.search_bm25(request("item", constraint=RowsFilter(frozenset(kept))), 10)
                assert [row for row, _ in found] == kept
            excluded = Not(RowsFilter(frozenset(rows)))
            assert reader.search_bm25(request("item", constraint=excluded), 10) == []

    def test_document_frequency(self, shop):
        with shop.reader() as reader:
            assert reader.document_frequency("item") == 3
            assert reader.document_frequency("vat") == 1
            assert reader.document_frequency("unheard") == 0
            assert reader.document_frequency("total", "name") == 2
            assert reader.document_frequency("item", "name") == 1

    def test_expecting_terms_changes_no_frequency(self, shop):
        words = ["item", "vat", "unheard", "total", ""]
        asked = [(word, field) for word in words for field in ("", "name")]
        with shop.reader() as reader:
            plain = [reader.document_frequency(*each) for each in asked]
        with shop.reader() as reader:
            reader.prefetch_document_frequencies(words)
            reader.prefetch_document_frequencies((word for word in words), "name")
            assert plain == [reader.document_frequency(*each) for each in asked]
            reader.prefetch_document_frequencies([])

    def test_document_frequency_forgets_what_is_deleted(self, shop):
        fill(shop, [file_record("src/cart.py", [symbol("basket", "weave item")])])
        with shop.reader() as reader:
            assert reader.document_frequency("append") == 0
            assert reader.document_frequency("item") == 2

    def test_a_corpus_says_so(self, backend):
        for corpus in ("0", "1"):
            with backend.writer() as writer:
                writer.put(file_record("a", [symbol("a", "x")]))
                writer.commit({"corpus": corpus})
            with backend.reader() as reader:
                assert reader.is_corpus == (corpus == "1")

    @pytest.mark.parametrize(
        ("term", "distance", "names"),
        [
            ("apend", 1, {"add_item"}),
            ("appendd", 1, {"add_item"}),
            ("apqend", 1, {"add_item"}),
            ("apend", 0, set()),
            ("apedn", 1, set()),
            ("aend", 2, {"add_item"}),
            ("xyz", 2, set()),
        ],
    )
    def test_fuzzy_terms(self, shop, term, distance, names):
        with shop.reader() as reader:
            wanted = KeywordRequest((Term(term, 1.0, distance),), EVEN)
            assert set(found_names(reader, wanted)) == names

    @drawn(40, data=st.data())
    def test_constraints_agree_with_brute_force(self, make_backend, data):
        files = data.draw(corpora())
        backend = make_backend()
        fill(backend, files)
        entries = [Entry(file, sym) for file in files for sym in file.symbols]
        with backend.reader() as reader:
            keys = {row.key: row.row for row in reader.lookup("*", 1000)}
            assert set(keys) == {entry.symbol.key for entry in entries}
            for _ in range(12):
                constraint = data.draw(CONSTRAINTS)
                words = data.draw(st.lists(st.sampled_from(WORDS), max_size=3, unique=True))
                exact = {leaf: {e.symbol.key for e in entries if e.meets_exact(leaf)} for leaf in EXACT}
                rows = {leaf: frozenset(keys[key] for key in found) for leaf, found in exact.items()}
                wanted = request(*words, constraint=constraint, exact_rows=rows)
                found = reader.search_bm25(wanted, 1000)
                expected = {
                    keys[e.symbol.key]
                    for e in entries
                    if evaluate(constraint, e.decide) and e.holds_any(words)
                }
                assert {row for row, _ in found} == expected
                assert all(score > 0 for _, score in found)
                assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)
                assert_explained(reader, wanted, found, bool(words))

    # Explanations

    def test_explanations_name_fields_and_terms(self, shop):
        with shop.reader() as reader:
            wanted = request("total", "item")
            (row,) = (row.row for row in reader.lookup("test_total", 10))
            (parts,) = reader.explain_bm25(wanted, [row]).values()
            assert set(parts) == {("name", "total"), ("body", "total")}
            assert sum(parts.values()) == pytest.approx(dict(reader.search_bm25(wanted, 10))[row], rel=1e-3)
            assert reader.explain_bm25(wanted, []) == {}

    def test_explanations_of_fuzzy_terms_sum_too(self, shop):
        with shop.reader() as reader:
            wanted = KeywordRequest((Term("item"), Term("itme", 0.3, 2), Term("item", 0.3, 1)), EVEN)
            assert_explained(reader, wanted, reader.search_bm25(wanted, 10), True)

    # Coverage

    def test_coverage_sums_the_weights_of_the_terms_that_a_text_has(self, shop):
        with shop.reader() as reader:
            rows = {row.name: row.row for row in reader.lookup("*", 10)}
            weights = {"item": 0.5, "append": 0.25, "sum": 0.125}
            covered = reader.coverage(weights, list(rows.values()))
            assert covered.get(rows["add_item"]) == pytest.approx(0.75)
            assert covered.get(rows["total"]) == pytest.approx(0.625)
            assert covered.get(rows["Vat"]) == pytest.approx(0.5)
            assert not covered.get(rows["test_total"])

    def test_coverage_looks_at_the_text_alone(self, shop):
        with shop.reader() as reader:
            (row,) = (row.row for row in reader.lookup("Vat", 10))
            assert not reader.coverage({"vat": 1.0}, [row]).get(row)

    def test_coverage_of_the_rows_that_were_asked_for(self, shop):
        with shop.reader() as reader:
            rows = {row.name: row.row for row in reader.lookup("*", 10)}
            asked = [rows["total"], rows["test_total"]]
            assert set(reader.coverage({"item": 1.0}, asked)) <= set(asked)
            assert reader.coverage({"item": 1.0}, asked)[rows["total"]] == pytest.approx(1.0)

    def test_coverage_of_nothing(self, shop):
        with shop.reader() as reader:
            rows = [row.row for row in reader.lookup("*", 10)]
            for terms, asked in (({}, rows), ({"item": 1.0}, []), ({"unheard": 1.0, "of": 0.5}, rows)):
                assert not any(reader.coverage(terms, asked).values())

    def test_coverage_forgets_what_is_replaced(self, shop):
        fill(shop, [file_record("src/cart.py", [symbol("basket", "weave item")])])
        with shop.reader() as reader:
            (row,) = (row.row for row in reader.lookup("basket", 10))
            assert reader.coverage({"weave": 0.5, "append": 0.5}, [row])[row] == pytest.approx(0.5)

    @drawn(30, data=st.data())
    def test_coverage_agrees_with_brute_force(self, make_backend, data):
        words = st.lists(st.sampled_from(WORDS), max_size=12)
        documents = data.draw(st.lists(words, min_size=1, max_size=10))
        backend = make_backend()
        fill(backend, [file_record(f"{i}", [symbol(f"s{i}", " ".join(d))]) for i, d in enumerate(documents)])
        with backend.reader() as reader:
            rows = {row.row: documents[int(row.name[1:])] for row in reader.lookup("*", 100)}
            for _ in range(4):
                terms = data.draw(
                    st.dictionaries(st.sampled_from([*WORDS, "unheard"]), st.floats(0.01, 1), max_size=6)
                )
                asked = data.draw(st.lists(st.sampled_from(sorted(rows)), unique=True))
                covered = reader.coverage(terms, asked)
                assert set(covered) <= set(asked)
                for row in asked:
                    expected = sum(weight for term, weight in terms.items() if term in rows[row])
                    assert covered.get(row, 0.0) == pytest.approx(expected, rel=1e-4)

    # Exact candidates

    @drawn(40, data=st.data())
    def test_no_text_that_matches_is_held_back(self, make_backend, data):
        alphabet = st.text(st.sampled_from("abcABC \n_é"), max_size=40)
        bodies = data.draw(st.lists(alphabet, min_size=1, max_size=8))
        backend = make_backend()
        fill(backend, [file_record(f"{i}", [symbol(f"s{i}")], text=body) for i, body in enumerate(bodies)])
        with backend.reader() as reader:
            ids = {file.path: file.file_id for file in reader.files()}
            for _ in range(10):
                text = data.draw(st.text(st.sampled_from("abcABC_é.*|"), min_size=1, max_size=6))
                pattern = compile_pattern(text, literal=data.draw(st.booleans()) or not valid(text))
                matching = {ids[f"{i}"] for i, body in enumerate(bodies) if pattern.find_lines(body)}
                assert matching <= set(reader.trigram_candidates(required_trigrams(pattern)))

    def test_candidates_are_few(self, shop):
        with shop.reader() as reader:
            trigrams = required_trigrams(compile_pattern("items.append", literal=True))
            found = reader.trigram_candidates(trigrams)
            assert [row.path for row in reader.file_rows(found)] == ["src/cart.py"]
            assert len(reader.trigram_candidates(required_trigrams(compile_pattern("a.*b")))) == 3

    # The graph: what linking leaves is what readers see, of the same generation as everything else.

    @pytest.fixture
    def linked(self, backend):
        with backend.writer() as writer:
            for path, text in GRAPH.items():
                writer.put(parsed_record(path, text))
            link(writer.graph())
            writer.commit({})
        return backend

    def test_edges_go_out_and_come_in(self, linked):
        with linked.reader() as reader:
            rows = rows_by_name(reader)
            (edge,) = reader.edges([rows["use"]], ("calls",))
            assert (edge.kind, edge.source, edge.target) == ("calls", rows["use"], rows["make"])
            assert (edge.line, edge.column, edge.confidence, edge.candidates) == (5, 4, "resolved", 1)
            assert reader.rows_of_files([edge.file_id])[0].path == "till.py"
            assert reader.edges([rows["make"]], ("calls",), incoming=True) == [edge]
            assert reader.edges([rows["use"]], (), incoming=True) == []

    def test_edges_of_some_kinds_and_of_all(self, linked):
        with linked.reader() as reader:
            rows = list(rows_by_name(reader).values())
            everything = reader.edges(rows)
            assert {edge.kind for edge in everything} == {"calls", "extends", "imports"}
            assert reader.edges(rows, ("extends",)) == [e for e in everything if e.kind == "extends"]
            assert reader.edges(rows, ("implements",)) == reader.edges(rows, ("nonsense",)) == []

    def test_edges_are_in_the_order_of_places(self, linked):
        with linked.reader() as reader:
            rows = rows_by_name(reader)
            paths = {file.file_id: file.path for file in reader.files()}
            for incoming in (False, True):
                edges = reader.edges(list(rows.values())[::-1], (), incoming)
                places = [(paths[e.file_id], e.line, e.column, e.target) for e in edges]
                assert places == sorted(places)
                assert reader.edges(list(rows.values()), (), incoming) == edges
                assert reader.edges(list(rows.values()), (), incoming, limit=2) == edges[:2]

    def test_edges_by_name_have_the_candidates_of_now(self, linked):
        with linked.reader() as reader:
            rows = rows_by_name(reader)
            assert [e.confidence for e in reader.edges([rows["guess"]], ("calls",))] == ["unique"]
        with linked.writer() as writer:
            writer.put(parsed_record("more.py", "class More:\n    def find_shop(self):\n        pass\n"))
            link(writer.graph())
            writer.commit({})
        with linked.reader() as reader:
            edges = reader.edges([rows["guess"]], ("calls",))
            assert [(e.confidence, e.candidates) for e in edges] == [("ambiguous", 2)] * 2

    def test_symbols_keep_their_rows_and_edges_when_their_file_changes(self, linked):
        with linked.reader() as reader:
            before, rows = reader.edges([rows_by_name(reader)["use"]], ("calls",)), rows_by_name(reader)
        with linked.writer() as writer:
            writer.put(parsed_record("shop.py", "# new\n" + GRAPH["shop.py"]))
            link(writer.graph())
            writer.commit({})
        with linked.reader() as reader:
            assert rows_by_name(reader) == rows
            assert reader.edges([rows["use"]], ("calls",)) == before

    def test_edges_of_files_that_are_gone(self, linked):
        with linked.reader() as reader:
            rows = rows_by_name(reader)
        with linked.writer() as writer:
            writer.delete("shop.py")
            link(writer.graph())
            writer.commit({})
        with linked.reader() as reader:
            assert reader.edges(list(rows.values())) == []
            assert reader.edges([10**9, -1, 0], (), incoming=True) == []

    def test_a_file_without_facts_has_no_edges(self, shop):
        with shop.reader() as reader:
            rows = [row.row for file in reader.files() for row in reader.rows_of_files([file.file_id])]
            assert reader.edges(rows) == reader.edges(rows, (), incoming=True) == []


class ScoreConformance(Suite):
    """The suite of scores, which needs indexes that never held anything else."""

    @drawn(30, data=st.data())
    def test_one_field_is_bm25(self, make_backend, data):
        """Scores equal the formula; each term counts once per document, as the index stores it."""
        documents = data.draw(
            st.lists(
                st.lists(st.sampled_from(WORDS), min_size=1, max_size=12, unique=True),
                min_size=1,
                max_size=12,
            )
        )
        query = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
        backend = make_backend()
        fill(backend, [file_record(f"{i}", [symbol(f"s{i}", " ".join(d))]) for i, d in enumerate(documents)])
        with backend.reader() as reader:
            found = reader.search_bm25(request(*query, weights=BODY), 100)
            names = {row.row: int(row.name[1:]) for row in reader.lookup("*", 100)}
            scores = {names[row]: score for row, score in found}
        expected = {i: score for i, d in enumerate(documents) if (score := bm25(query, d, documents))}
        assert scores == {i: pytest.approx(score, rel=1e-4) for i, score in expected.items()}

    def test_names_change_no_score(self, make_backend):
        files = some_files()
        named = [file._replace(names=(name_record("item", 1), name_record("total", 1))) for file in files]
        scores = []
        for records in (files, named):
            backend = make_backend()
            fill(backend, records)
            with backend.reader() as reader:
                found = reader.search_bm25(request("item", "total", "rate"), 100)
                names = {row.row: row.name for row in reader.rows([row for row, _ in found])}
                scores.append({names[row]: score for row, score in found})
        assert scores[0] == pytest.approx(scores[1], rel=1e-6) and len(scores[0]) == 4

    @pytest.mark.parametrize("reference", [BM25Okapi, BM25Plus])
    def test_the_order_is_that_of_rank_bm25(self, make_backend, reference):
        """On words that are rare enough, all variants of idf agree about the order."""
        documents = [
            "parse cookie header value",
            "parse header",
            "send mail queue",
            "cookie jar store domain path expire",
            "retry backoff",
            "header cookie parse split semicolon trim name value pair list",
            "open socket",
            "close socket linger",
            "hash password salt",
            "render template cache page fragment",
            "walk folder",
            "merge branch commit",
            "session",
            "resize image crop",
            "log level format",
        ]
        backend = make_backend()
        fill(backend, [file_record(f"{i}", [symbol(f"s{i}", d)]) for i, d in enumerate(documents)])
        ranker = reference([d.split() for d in documents], k1=1.2, b=0.75)
        with backend.reader() as reader:
            for query in ("parse cookie", "socket", "header value", "cookie store", "session"):
                holding = [i for i, d in enumerate(documents) if set(query.split()) & set(d.split())]
                scores = ranker.get_scores(query.split())
                expected = sorted(holding, key=lambda i: -scores[i])
                found = [int(n[1:]) for n in found_names(reader, request(*query.split(), weights=BODY))]
                assert found == expected


GRAPH = {
    "shop.py": "class Base:\n    def find_shop(self):\n        pass\n\n\nclass Shop(Base):\n    pass\n\n\n"
    "def make():\n    return Shop()\n",
    "till.py": "from shop import make\n\n\ndef use():\n    make()\n\n\ndef guess(x):\n    x.find_shop()\n"
    "\n\nLIMIT = 1\n",
}


def parsed_record(path: str, text: str) -> FileRecord:
    """Return the record of a file as indexing makes it."""
    source = Source(path, "acme/shop", path, "python", "", len(text), 1, f"hash of {text}", "utf-8", text)
    return make_record(source, strip_docs=False)


def rows_by_name(reader: Reader) -> dict[str, int]:
    files = [file.file_id for file in reader.files()]
    return {row.name: row.row for row in reader.rows_of_files(files)}


# Brute force

WORDS = ("cart", "item", "total", "rate", "parse", "cookie", "é")
NAMES = ("cart", "Total", "parse_cookie", "École", "x")
EXACT: tuple[Phrase | Regex, ...] = (Phrase("cart item"), Regex("r.te"))


@dataclass(frozen=True)
class Entry:
    """A symbol and its file, judged in plain Python."""

    file: FileRecord
    symbol: SymbolRecord

    def decide(self, leaf: Leaf) -> bool:
        if isinstance(leaf, LangFilter):
            return self.file.language == leaf.language
        if isinstance(leaf, KindFilter):
            return self.symbol.kind == leaf.kind
        if isinstance(leaf, PathFilter):
            return path_matches(leaf.glob, self.file.path)
        if isinstance(leaf, WithinFilter):
            return f"{self.file.path}/".startswith(f"{leaf.path}/")
        if isinstance(leaf, RepoFilter):
            return path_matches(leaf.glob, self.file.repo)
        if isinstance(leaf, SymFilter):
            return symbol_matches(leaf.glob, self.symbol.name, self.symbol.qualified_name)
        if isinstance(leaf, WordConstraint):
            terms = tokenize(leaf.word.text)
            return bool(terms) and all(self.holds_any([t]) for t in terms)
        return self.meets_exact(leaf)

    def meets_exact(self, leaf: Phrase | Regex) -> bool:
        # Any fixed set will do here: what exact leaves mean is the exact lane's business.
        return hash_of(self.symbol.key) % 2 == (leaf == EXACT[0])

    def holds_any(self, words: Sequence[str]) -> bool:
        held = {term for terms in self.symbol.terms for term in terms.split()}
        return not words or bool(held & set(words))


def hash_of(text: str) -> int:
    return sum(map(ord, text))


def bm25(query: list[str], document: list[str], documents: list[list[str]]) -> float:
    """The formula of Robertson and Zaragoza with Lucene's idf, which is never negative."""
    average = sum(map(len, documents)) / len(documents)
    total = 0.0
    for term in query:
        if term in document:
            frequency = sum(term in d for d in documents)
            idf = math.log(1 + (len(documents) - frequency + 0.5) / (frequency + 0.5))
            total += idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * len(document) / average))
    return total


@st.composite
def corpora(draw: st.DrawFn) -> list[FileRecord]:
    files = []
    for number in range(draw(st.integers(1, 5))):
        symbols = []
        for at in range(draw(st.integers(0, 3))):
            name = draw(st.sampled_from(NAMES))
            terms = {f: " ".join(draw(WORD_SETS)) for f in ("name", "signature", "body")}
            outer = draw(st.sampled_from(("", "shop.", "shop.Cart.")))
            kind = draw(st.sampled_from(("function", "method", "class")))
            symbols.append(
                symbol(name, terms, key=f"{number}.{at}", qualified_name=f"{outer}{name}", kind=kind)
            )
        path = f"{draw(st.sampled_from(('src', 'src/Core', 'tests')))}/{number}.py"
        repo = draw(st.sampled_from(("acme/shop", "Beta/web")))
        language = draw(st.sampled_from(("python", "go")))
        files.append(file_record(f"{number}", symbols, path=path, repo=repo, language=language))
    return files


WORD_SETS = st.lists(st.sampled_from(WORDS), max_size=4, unique=True)
LEAVES: st.SearchStrategy[Constraint] = st.one_of(
    st.sampled_from(("python", "go", "rust")).map(LangFilter),
    st.sampled_from(("function", "method", "class")).map(KindFilter),
    st.sampled_from(("src/**", "core", "Core", "*.py", "tests/0.py", "/src", "none", "**")).map(PathFilter),
    st.sampled_from(("src", "src/Core", "src/core", "sr", "tests/0.py", "tests/0")).map(WithinFilter),
    st.sampled_from(("acme/*", "shop", "beta", "Beta", "x")).map(RepoFilter),
    st.sampled_from(
        ("cart", "total", "Total", "*cookie", "shop.*", "cart.total", "école", "É*", "q", "*")
    ).map(SymFilter),
    st.sampled_from((*WORDS, "parse cookie", "item-total", "!")).map(lambda text: WordConstraint(Word(text))),
    st.sampled_from(EXACT),
)
CONSTRAINTS: st.SearchStrategy[Constraint] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: Or(tuple(parts))),
        inner.map(Not),
    ),
    max_leaves=5,
)


def texts(reader: Reader) -> dict[str, bytes]:
    paths = {file.file_id: file.path for file in reader.files()}
    return {paths[i]: text for i, text in reader.texts(list(paths))}


def valid(pattern: str) -> bool:
    try:
        compile_pattern(pattern)
    except ValueError:
        return False
    return True


def assert_explained(
    reader: Reader, wanted: KeywordRequest, found: list[tuple[int, float]], has_terms: bool
) -> None:
    """Check that the parts of every score sum to it."""
    if not has_terms:
        return
    parts = reader.explain_bm25(wanted, [row for row, _ in found])
    assert {row: sum(parts[row].values()) for row, _ in found} == {
        row: pytest.approx(score, rel=1e-3) for row, score in found
    }
