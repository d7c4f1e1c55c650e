"""Large trees: the first search reads the files that it is likely about, and the rest follows."""

from __future__ import annotations

import pytest

from dowse import Index
from dowse.indexing import likely_files
from dowse.interfaces.cli.main import main
from watch.whole import rebuilt, whole

from helpers import write_tree

ROLES = 60
FILES = {
    **{f"pkg/module_{n}.py": f"def module_{n}(rows):\n    return sorted(rows)\n" for n in range(ROLES)},
    "pkg/retry.py": "def call_again(request):\n    '''Retry a request with backoff.'''\n",
    "tests/test_retry.py": "def test_backoff():\n    '''Retry a request with backoff.'''\n",
    "pkg/long.txt": "retry a request with backoff\n" + "and much else\n" * 400,
}
QUESTION = "retrying requests with backoff"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """The index of a tree that counts as large, not made yet."""
    monkeypatch.setattr(likely_files, "FIRST_BYTES", 2_000)
    root = write_tree(tmp_path / "tree", FILES)
    monkeypatch.setattr("dowse.indexing.update._SMALL_BYTES", 100)
    return Index.open(root, index_dir=str(tmp_path / "index"), processes=2)


def notes(answer):
    return [note.code for note in answer.notes]


def test_a_part_answers_and_the_rest_follows(index, tmp_path):
    index.update(embed=False, defer_graph=True, question=QUESTION)
    held = {file.path for file in index.contents.files()}
    assert "pkg/retry.py" in held
    assert "pkg/long.txt" not in held
    assert 1 < len(held) < len(FILES)
    answer = index.search(QUESTION)
    assert answer.hits[0].symbol.path == "pkg/retry.py"
    assert "incomplete-index" in notes(answer)
    assert not index.contents.is_complete
    index.update(embed=False)
    assert index.contents.is_complete
    assert "incomplete-index" not in notes(index.search(QUESTION))
    assert whole(index) == rebuilt(index, str(tmp_path / "fresh"))


def test_without_a_question_all_is_read(index):
    index.update(embed=False, defer_graph=True)
    assert index.contents.is_complete
    assert len(index.contents.files()) == len(FILES)


def test_a_small_tree_is_read_at_once(index, monkeypatch):
    monkeypatch.setattr(likely_files, "FIRST_BYTES", 1_000_000)
    index.update(embed=False, defer_graph=True, question=QUESTION)
    assert index.contents.is_complete


@pytest.mark.parametrize(
    ("query", "is_complete"),
    [
        ([QUESTION], False),
        ([QUESTION, "-k", "3"], False),
        (["/back.ff/"], True),  # every match counts
        (["backoff lang:python"], True),
        (["backoff", "--count"], True),
        (["what calls call_again"], True),  # the call graph is asked
    ],
)
def test_only_an_open_question_is_answered_by_a_part(index, query, is_complete, monkeypatch):
    monkeypatch.setattr("dowse.interfaces.cli.common.continues_later", lambda _: True)
    left = []
    monkeypatch.setattr("dowse.interfaces.cli.left_work.leave_unfinished", left.append)
    main(["search", *query, str(index.root), "--index-dir", index.backend.address])
    assert index.contents.is_complete == is_complete


def test_what_needs_all_files_waits_for_them(index, capsys):
    index.update(embed=False, defer_graph=True, question=QUESTION)
    main(["callers", "call_again", str(index.root), "--index-dir", index.backend.address])
    assert index.contents.is_complete
    assert "indexing the rest" in capsys.readouterr().err
