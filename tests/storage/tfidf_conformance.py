"""TF-IDF over every backend, written against the protocol alone and compared with scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from dowse.indexing.records import corpus_record
from dowse.parsing.tokenizer import tokenize
from dowse.query.ast import (
    And,
    LangFilter,
    Not,
    PathFilter,
    Phrase,
    SymFilter,
)
from dowse.research.tfidf.index import count_terms, explain_tfidf, search_tfidf
from dowse.search.lanes.tfidf import terms_and_bigrams
from dowse.source.corpus import CorpusFunction
from dowse.storage.protocol import Backend, Reader
from storage.conformance import MakeBackend, fill, parsed_record, rows_by_name
from storage.suite import Suite, drawn

WORDS = ("cart", "item", "total", "parseCookie", "HTTPServer", "for", "x", "naïve", "if", "Total")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
QUERIES = st.lists(st.sampled_from((*WORDS, "unknown", "parse", "server")), min_size=1, max_size=6).map(
    " ".join
)
# What a tree may be: by path, the text of the one symbol of a file.
TREES = st.dictionaries(st.sampled_from([f"src/{n}.txt" for n in range(6)]), TEXTS)


def reference(texts: Sequence[str], query: str) -> list[float]:
    """Return the score of every text, as scikit-learn gives it."""
    if not any(map(tokenize, texts)):
        return [0.0] * len(texts)
    maker = TfidfVectorizer(
        norm=None, ngram_range=(1, 2), tokenizer=tokenize, token_pattern=None, lowercase=False
    )
    matrix = maker.fit_transform(texts)
    columns = [maker.vocabulary_[term] for term in terms_and_bigrams(query) if term in maker.vocabulary_]
    return np.asarray(matrix[:, columns].sum(axis=1)).ravel().tolist() if columns else [0.0] * len(texts)


def text_file(path: str, text: str):
    """Return the record of a file of plain text, which is one symbol; its first line says its name."""
    return parsed_record(path, f"{text}\n")


def put(backend: Backend, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Make a generation of what changed."""
    with backend.writer() as writer:
        for path in before.keys() - after.keys():
            writer.delete(path)
        for path, text in after.items():
            if before.get(path) != text:
                writer.put(text_file(path, text))
        writer.commit({})


def count(backend: Backend, **how: Any) -> int:
    with backend.reader() as reader:
        return count_terms(reader, **how)


def all_scores(reader: Reader, query: str) -> dict[int, float]:
    return dict(search_tfidf(reader, terms_and_bigrams(query), 1000))


def assert_true(backend: Backend, query: str) -> None:
    """Check every score against scikit-learn, on the texts as they are in the index."""
    with backend.reader() as reader:
        rows = reader.rows_of_files([file.file_id for file in reader.files()])
        codes = [symbol.code for symbol in reader.symbols(rows)]
        wanted = dict(zip([row.row for row in rows], reference(codes, query), strict=True)) if rows else {}
        assert all_scores(reader, query) == pytest.approx(
            {row: s for row, s in wanted.items() if s}, rel=1e-9
        )


class TfidfConformance(Suite):
    """The suite; `make_backend` gives an empty backend."""

    @drawn(10, texts=st.lists(TEXTS, min_size=1, max_size=8), query=QUERIES, kept=st.booleans())
    def test_scores_are_those_of_scikit_learn(
        self, make_backend: MakeBackend, texts: list[str], query: str, kept: bool
    ) -> None:
        backend = make_backend()
        fill(backend, [text_file(f"{n}.py", text) for n, text in enumerate(texts)])
        if kept:
            count(backend)
        assert_true(backend, query)

    @drawn(6, trees=st.lists(st.tuples(TREES, st.booleans()), min_size=2, max_size=5), query=QUERIES)
    def test_scores_are_those_of_a_fresh_index_after_any_history(
        self, make_backend: MakeBackend, trees: list[tuple[dict[str, str], bool]], query: str
    ) -> None:
        """Files come, change, go and come again; some generations are asked, some are passed over."""
        backend = make_backend()
        before: dict[str, str] = {}
        for tree, asked in trees:
            put(backend, before, tree)
            before = tree
            if asked:
                count(backend)
                assert_true(backend, query)
        count(backend)
        assert_true(backend, query)
        fresh = make_backend()
        put(fresh, {}, before)
        with backend.reader() as one, fresh.reader() as other:
            places = [
                [(reader.rows([row])[0].path, score) for row, score in search_tfidf(reader, wanted, 1000)]
                for reader in (one, other)
                for wanted in [terms_and_bigrams(query)]
            ]
        assert places[0] == places[1]  # to the last bit, ties and all

    def test_equals_are_in_the_order_of_their_places_whenever_they_came(
        self, make_backend: MakeBackend
    ) -> None:
        backend = make_backend()
        for path in ("b.txt", "d.txt", "a.txt", "c.txt"):
            fill(backend, [text_file(path, "cart")])
            count(backend)
        with backend.reader() as reader:
            for limit in (4, 2):
                found = search_tfidf(reader, ("cart",), limit)
                assert [row.path for row in reader.rows([row for row, _ in found])] == [
                    "a.txt", "b.txt", "c.txt", "d.txt",
                ][:limit]  # fmt: skip

    def test_the_parts_sum_to_the_score(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, [text_file("a.py", "cart item cart item"), text_file("b.py", "item cart total")])
        wanted = terms_and_bigrams("cart item nothing")
        with backend.reader() as reader:
            found = search_tfidf(reader, wanted, 10)
            parts = explain_tfidf(reader, wanted, [row for row, _ in found])
        assert [row for row, _ in found] == list(parts)
        for row, score in found:
            assert sum(often * idf for often, idf in parts[row].values()) == pytest.approx(score)
        often = {term: times for term, (times, _) in parts[found[0][0]].items()}
        assert often == {"cart": 2, "item": 2, "cart item": 2}

    def test_conditions_hold_before_the_best_are_taken(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        texts = {f"src/f{n}.py": f"def f{n}():\n    return {'cart ' * (9 - n)}\n" for n in range(8)}
        fill(backend, [parsed_record(path, text) for path, text in texts.items()])
        with backend.reader() as reader:
            names = rows_by_name(reader)
            phrase = Phrase("whatever")
            for constraint, kept in (
                (SymFilter("f7"), ["f7"]),
                (And((PathFilter("src/f*"), Not(SymFilter("f0")))), ["f1", "f2"]),
                (LangFilter("go"), []),
                (phrase, ["f5", "f6"]),
            ):
                exact = {phrase: frozenset((names["f5"], names["f6"], names["f7"]))}
                found = search_tfidf(reader, ("cart",), 2, constraint, exact)
                assert [row.name for row in reader.rows([row for row, _ in found])] == kept

    def test_equal_texts_count_once_each(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, [text_file(f"{n}.py", "cart item") for n in range(3)] + [text_file("o.py", "cart")])
        count(backend)
        assert_true(backend, "cart item")
        with backend.writer() as writer:
            writer.delete("1.py")
            writer.commit({})
        assert_true(backend, "cart item")

    def test_what_is_counted_is_said_and_not_counted_again(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, [text_file(f"{n}.txt", f"cart {n}") for n in range(5)])
        said: list[tuple[int, int]] = []
        assert count(backend, on_counted=lambda *done: said.append(done)) == 5
        assert said[-1] == (5, 5)
        assert count(backend) == 0
        put(backend, {"0.txt": "cart 0"}, {"new.txt": "other", "copy.txt": "cart 1"})
        assert count(backend) == 1  # a text that is there already is not counted again

    @pytest.mark.parametrize(
        ("code", "doc", "times"),
        [
            ("def f():\n    return cart\n", "An item of the cart.", {"item": 1, "cart": 2}),
            (
                'def f():\n    """An item of the cart."""\n    return cart\n',
                "An item of the cart.",
                {"item": 1, "cart": 2},
            ),
            ("def f():\n    return cart\n", "", {"cart": 1}),
        ],
    )
    def test_documentation_beside_the_code_counts_once(
        self, make_backend: MakeBackend, code: str, doc: str, times: dict[str, int]
    ) -> None:
        backend = make_backend()
        entry = CorpusFunction("1", "acme/shop", "a.py", "f", "python", code, doc, 1, "")
        with backend.writer() as writer:
            writer.put(corpus_record(entry, strip_docs=False))
            writer.commit({"corpus": "1"})
        wanted = ("item", "cart")
        with backend.reader() as reader:
            ((row, _),) = search_tfidf(reader, wanted, 5)
            found = explain_tfidf(reader, wanted, [row])[row]
        assert {term: often for term, (often, _) in found.items()} == times
