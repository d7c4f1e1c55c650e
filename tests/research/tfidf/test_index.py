"""The TF-IDF index on disk: after any history, damage or kill it says what a fresh one would, or nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from dowse import Index
from dowse.parsing.tokenizer import tokenize
from dowse.research.tfidf import index as tfidf_index
from dowse.research.tfidf.index import count_terms, covers, search_tfidf
from dowse.research.tfidf.segment import Segment, SegmentBuilder, term_hashes
from dowse.search.lanes.tfidf import terms_and_bigrams
from dowse.types import SymbolRow

from helpers import KILL_HOOK, large_from, write_tree

WORDS = ("cart", "item", "parseCookie", "HTTPServer", "for", "x")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
# Generations, each with the text of every symbol by row.
HISTORIES = st.lists(st.dictionaries(st.integers(1, 12), TEXTS), min_size=2, max_size=6)
QUERY = terms_and_bigrams("parse cart item for HTTPServer")


class Symbols:
    """A reader of symbols that are whole files; all that counting reads of one."""

    identity = "1-2"

    def __init__(self, folder: Path | None, texts: Mapping[int, str], generation: int = 1) -> None:
        self.cache_folder, self.generation = folder, generation
        self.derived: dict[str, Any] = {}
        self._texts = dict(sorted(texts.items()))

    def text_keys(self) -> list[tuple[int, int, bytes]]:
        return [(row, row, digest(text)) for row, text in self._texts.items()]

    def symbol_texts(self, rows: Sequence[int]) -> list[tuple[int, str, str]]:
        return [(row, self._texts[row], "") for row in rows]

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        return [SymbolRow(row, *[""] * 8, row, row, "", row) for row in rows]


def digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def update(folder: Path, generation: int, texts: Mapping[int, str]) -> int:
    return count_terms(Symbols(folder, texts, generation), 0.0)  # type: ignore[arg-type]


def top(folder: Path | None, generation: int, texts: Mapping[int, str]) -> list[tuple[int, float]]:
    return search(Symbols(folder, texts, generation))


def search(reader: Any) -> list[tuple[int, float]]:
    return search_tfidf(reader, QUERY, 100)


def fresh(texts: Mapping[int, str]) -> list[tuple[int, float]]:
    """What an index says that has never seen anything else, and keeps nothing."""
    return top(None, 1, texts)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.keys.npy"))


# Segments


@given(st.lists(TEXTS, max_size=8, unique=True))
def test_a_segment_counts_as_scikit_learn_does(texts):
    segment = segment_of(texts)
    counts = counts_of(segment)
    if not any(map(tokenize, texts)):
        assert not counts
        return
    maker = CountVectorizer(ngram_range=(1, 2), tokenizer=tokenize, token_pattern=None, lowercase=False)
    matrix = maker.fit_transform(texts).tocoo()
    names = maker.get_feature_names_out().tolist()
    hashes = term_hashes(names).tolist()
    expected = {
        (hashes[term], digest(texts[text])): count
        for text, term, count in zip(matrix.row, matrix.col, matrix.data.tolist(), strict=True)
    }
    assert counts == expected
    assert len(set(hashes)) == len(hashes)


def segment_of(texts: Sequence[str]) -> Segment:
    builder = SegmentBuilder()
    for text in texts:
        builder.add(digest(text), tokenize(text))
    return builder.segment()


def counts_of(segment: Segment) -> dict[tuple[int, bytes], int]:
    """Return how often each (hash of a term, text) is there."""
    found = {}
    for at, term in enumerate(segment.terms.tolist()):
        for text, count in zip(*segment.postings(at), strict=True):
            found[term, segment.keys[text].tobytes()] = int(count)
    return found


# History


@given(HISTORIES)
@settings(max_examples=15)
def test_after_any_history_it_is_a_fresh_one(tmp_path_factory, history):
    folder = tmp_path_factory.mktemp("history")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tfidf_index, "SEGMENT_TERMS", 12)
        patch.setattr(tfidf_index, "BATCH", 2)
        patch.setattr(tfidf_index, "MAX_SMALL", 2)
        patch.setattr(tfidf_index, "SMALL", 30)
        for generation, texts in enumerate(history, 1):
            update(folder, generation, texts)
            assert top(folder, generation, texts) == fresh(texts)
            assert update(folder, generation, texts) == 0


def test_what_comes_back_is_still_known_and_what_is_gone_for_long_is_dropped(tmp_path):
    texts = {row: f"cart item{row}" for row in range(1, 9)}
    assert update(tmp_path, 1, texts) == 8
    some = {row: text for row, text in texts.items() if row < 6}
    assert update(tmp_path, 2, some) == 0 and update(tmp_path, 3, texts) == 0
    assert update(tmp_path, 4, {1: texts[1]}) == 1  # most was of no use, so it is counted anew
    assert update(tmp_path, 5, texts) == 7
    assert top(tmp_path, 5, texts) == fresh(texts)
    assert update(tmp_path, 6, {}) == 0 and files(tmp_path / "tfidf") == []


def test_a_reader_keeps_what_it_has_open_while_segments_are_replaced(tmp_path):
    texts = {row: f"cart item{row}" for row in range(1, 9)}
    update(tmp_path, 1, texts)
    held = Symbols(tmp_path, texts, 1)
    assert search(held) == fresh(texts)
    update(tmp_path, 2, {1: texts[1]})
    assert search(held) == fresh(texts)
    assert top(tmp_path, 2, {1: texts[1]}) == fresh({1: texts[1]})


# Damage

TEXT = {row: f"cart item{row} for x" for row in range(1, 9)}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with two segments."""
    update(tmp_path, 1, {row: TEXT[row] for row in range(1, 5)})
    update(tmp_path, 2, TEXT)
    assert len(files(tmp_path / "tfidf")) == 2
    return tmp_path


def assert_mended(folder: Path) -> None:
    """Check that it answers right as it is, and that the next writer makes it whole."""
    assert top(folder, 2, TEXT) == fresh(TEXT)
    assert not covers(Symbols(folder, TEXT, 2))  # type: ignore[arg-type]
    assert update(folder, 2, TEXT) > 0
    assert covers(Symbols(folder, TEXT, 2))  # type: ignore[arg-type]
    assert update(folder, 2, TEXT) == 0
    assert top(folder, 2, TEXT) == fresh(TEXT)
    others = [path.name for path in (folder / "tfidf").iterdir() if path.suffix != ".npy"]
    assert sorted(others) == ["state.json", "writer.lock"]


@pytest.mark.parametrize("size", [0, -1, None])
def test_a_segment_cut_short_or_gone_is_counted_again(kept, size):
    path = files(kept / "tfidf")[0]
    if size is None:
        path.unlink()
    else:
        os.truncate(path, size if size >= 0 else path.stat().st_size - 1)
    assert_mended(kept)


@pytest.mark.parametrize(
    "state",
    [
        *(
            b"",
            b"{",
            b"[]",
            b"null",
            b"\xff",
            b'{"format": 3}',
            b'{"format": 99, "segments": [], "covers": ""}',
        ),
        b'{"format": 3, "segments": [{"number": 1}], "covers": ""}',
        b'{"format": 3, "segments": [7], "covers": ""}',
    ],
)
def test_a_state_that_cannot_be_read_counts_for_nothing(kept, state):
    (kept / "tfidf" / "state.json").write_bytes(state)
    assert_mended(kept)


# Kills: on a real index, in a process of its own

WRITER = f"""{KILL_HOOK}
from dowse import Index
from dowse.research.tfidf import index as tfidf_index
tfidf_index.SEGMENT_TERMS, tfidf_index.BATCH = 40, 4
root, folder, place, when, nth = sys.argv[1:]
hook(place, when, nth)
Index.open(root, index_dir=folder).internals.count_terms()
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[tuple[str, float]]]:
    """A tree, its index without counts, and what it answers with them."""
    base = tmp_path_factory.mktemp("kill")
    texts = {f"m{n}.py": f"def cart_{n}(item):\n    return item_{n} + cart * {n % 3}\n" for n in range(24)}
    root = write_tree(base / "tree", texts)
    with Index.open(root, index_dir=str(base / "index")) as index:
        index.update()
    copy = shutil.copytree(base / "index", base / "counted")
    with Index.open(root, index_dir=str(copy)) as index:
        return root, base / "index", answers(index)


def answers(index: Index) -> list[tuple[str, float]]:
    return [(hit.symbol.path, hit.score) for hit in index.search("cart item", k=30, mode="tfidf")]


@pytest.mark.parametrize(
    ("place", "when", "nth"),
    large_from(
        3,
        [
            ("dowse.research.tfidf.index:write_segment", "before", 1),
            ("dowse.research.tfidf.index:write_segment", "after", 2),
            ("dowse.research.tfidf.index:write_state", "before", 1),
            ("dowse.research.tfidf.index:write_state", "after", 2),
            ("dowse.research.tfidf.segment:_path", "after", 2),  # half a segment under a name of its own
            ("dowse.research.tfidf.index:remove_leftovers", "before", 1),
        ],
    ),
)
def test_a_killed_writer_leaves_nothing_that_is_wrong(world, tmp_path, place, when, nth):
    root, old, expected = world
    folder = shutil.copytree(old, tmp_path / "index")
    done = subprocess.run(
        [sys.executable, "-c", WRITER, root, folder, place, when, str(nth)], timeout=300, check=False
    )
    assert done.returncode == -signal.SIGKILL, "the place was not reached"
    with Index.open(root, index_dir=str(folder)) as index:
        with index.backend.reader() as reader:
            assert len(search_tfidf(reader, terms_and_bigrams("cart item"), 100)) == len(expected)
        assert answers(index) == expected
        assert index.internals.count_terms() == 0
